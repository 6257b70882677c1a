/* SPDX-License-Identifier: Apache-2.0
 * The boundary between the launcher and what brings its tasks together (MPI, PMIx, or a site's own
 * way). A plugin is a shared object that exports paddle_launch_bootstrap() and needs no other
 * header.
 *
 * The launcher loads plugins in a short-lived process of their own, calls them from one thread, and
 * ends that process when they do not answer: a plugin may block, start threads and keep globals. It
 * must not let an exception out, end the process, or write to standard output.
 */
#ifndef PADDLE_LAUNCH_BOOTSTRAP_ABI_H
#define PADDLE_LAUNCH_BOOTSTRAP_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when anything below changes its meaning; the launcher refuses another number. */
#define PADDLE_LAUNCH_BOOTSTRAP_ABI 1

/* A plugin that was opened inside this one takes leave for both: this one is then not closed (MPICH
 * ends the conversation with mpiexec, which knows one conversation a task). 1u is no longer used.
 */
#define PADDLE_LAUNCH_INNER_TAKES_LEAVE 2u

/* Where a failing call writes its reason: text without a newline at the end, always ended by a
 * zero. */
typedef struct {
  char* text;
  size_t size;
} paddle_launch_reason;

/* Called once for each task, in the order of their ranks. The bytes are valid during the call only.
 */
typedef void (*paddle_launch_take)(void* user, uint32_t rank, const void* bytes, size_t size);

/* Every function but `abort` returns 0, or anything else with a reason. All tasks make the same
 * calls in the same order: open, identity, any number of allgather and broadcast, close. */
typedef struct {
  uint32_t abi;     /* PADDLE_LAUNCH_BOOTSTRAP_ABI */
  uint32_t flags;   /* PADDLE_LAUNCH_INNER_TAKES_LEAVE or 0 */
  const char* name; /* for messages: "Open MPI 4.1.4" */

  /* NULL: the plugin cannot be used here, and `name` says why. */
  int (*open)(paddle_launch_reason* why);
  int (*identity)(uint32_t* rank, uint32_t* size, paddle_launch_reason* why);

  /* Gives everyone's bytes to everyone. Sizes may differ between tasks. */
  int (*allgather)(const void* mine, size_t size, paddle_launch_take take, void* user,
                   paddle_launch_reason* why);

  /* Gives the bytes of task 0 to everyone, task 0 included. Other tasks pass NULL and 0. */
  int (*broadcast)(const void* bytes, size_t size, paddle_launch_take take, void* user,
                   paddle_launch_reason* why);

  /* Ends all tasks at once as far as the other side can; may not return. NULL: there is no such
   * way. */
  void (*abort)(int status, const char* message);

  /* Lets go of everything; afterwards the task is an ordinary process again. */
  int (*close)(paddle_launch_reason* why);
} paddle_launch_bootstrap_v1;

/* NULL: this plugin cannot be used here, without a reason. */
const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(void);

#ifdef __cplusplus
}
#endif

#endif
