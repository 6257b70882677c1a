/* SPDX-License-Identifier: Apache-2.0
 * One task of a job that tries a bootstrap plugin the way the launcher uses it:
 *   bootstrap_plugin_check PLUGIN        every function but abort, and what they gave
 *   bootstrap_plugin_check OUTER INNER   two in one process: INNER opens second and closes first
 *   bootstrap_plugin_check --abort PLUGIN   the last task aborts with status 7
 * Prints "ok RANK/SIZE NAME" and ends with 0, or with 1 and what went wrong. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/bootstrap_abi.h"

typedef const paddle_launch_bootstrap_v1* Plugin;
typedef paddle_launch_bootstrap_v1 const* (*Entry)(void);

enum { kGathers = 3, kBroadcasts = 3, kLargest = 100 * 1024, kAbortStatus = 7, kSecondsToDie = 30 };

static char reason_text[1024];
static paddle_launch_reason reason = {reason_text, sizeof reason_text};
static uint32_t own_rank;
static uint32_t task_count = 1;

__attribute__((noreturn, format(printf, 1, 2))) static void give_up(const char* format, ...) {
  char words[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  printf("failed %u/%u %s\n", own_rank, task_count, words);
  fflush(stdout);
  _Exit(1); /* what a failed plugin left behind may not survive its destructors */
}

static int round_now = -1; /* of the exchanges; for messages */

static void must(int status, const char* call) {
  if (status == 0) return;
  const size_t length = strlen(reason_text);
  if (length == 0) give_up("%s without a reason", call);
  if (memchr(reason_text, '\n', length) != NULL) give_up("%s with a newline in its reason", call);
  if (round_now >= 0) give_up("%s, round %d: %s", call, round_now, reason_text);
  give_up("%s: %s", call, reason_text);
}

/* Everybody knows what everybody gives in each round; different from round to round. */
static size_t size_given(int round, uint32_t rank) {
  static const size_t broadcasts[kBroadcasts] = {36, 0, kLargest};
  if (round >= kGathers) return broadcasts[round - kGathers];
  if (round == 0) return 10 + 13 * (size_t)rank;
  if (round == 1) return rank + 1 == task_count ? 0 : 5;
  return 70 * 1024;
}

static unsigned char byte_given(int round, uint32_t rank, size_t index) {
  return (unsigned char)(index * 7 + (index >> 8) + rank * 31 + (unsigned)round * 101);
}

static const void* bytes_given(int round, uint32_t rank) {
  static unsigned char bytes[kLargest];
  const size_t size = size_given(round, rank);
  for (size_t index = 0; index < size; ++index) bytes[index] = byte_given(round, rank, index);
  return size > 0 ? bytes : NULL;
}

typedef struct {
  int round;
  uint32_t next;
} Taken;

static void take(void* user, uint32_t rank, const void* bytes, size_t size) {
  Taken* taken = user;
  if (rank != taken->next++) give_up("round %d: rank %u out of order", taken->round, rank);
  if (size != size_given(taken->round, rank)) {
    give_up("round %d: rank %u gave %zu bytes", taken->round, rank, size);
  }
  const unsigned char* at = bytes;
  for (size_t index = 0; index < size; ++index) {
    if (at[index] != byte_given(taken->round, rank, index)) {
      give_up("round %d: byte %zu of rank %u is wrong", taken->round, index, rank);
    }
  }
}

static void try_allgather(Plugin plugin, int round) {
  Taken taken = {round, 0};
  round_now = round;
  const void* mine = bytes_given(round, own_rank);
  must(plugin->allgather(mine, size_given(round, own_rank), take, &taken, &reason), "allgather");
  if (taken.next != task_count) give_up("round %d: %u tasks gave bytes", round, taken.next);
}

static void try_broadcast(Plugin plugin, int round) {
  Taken taken = {round, 0};
  round_now = round;
  const size_t size = own_rank == 0 ? size_given(round, 0) : 0;
  const void* bytes = own_rank == 0 ? bytes_given(round, 0) : NULL;
  must(plugin->broadcast(bytes, size, take, &taken, &reason), "broadcast");
  if (taken.next != 1) give_up("round %d: given %u times", round, taken.next);
}

static Plugin load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) give_up("%s", dlerror());
  Entry entry = NULL;
  void* symbol = dlsym(library, "paddle_launch_bootstrap");
  if (symbol == NULL) give_up("%s", dlerror());
  memcpy(&entry, &symbol, sizeof entry); /* C has no cast from object to function */
  Plugin plugin = entry();
  if (plugin == NULL) give_up("%s cannot be used here", path);
  if (plugin->abi != PADDLE_LAUNCH_BOOTSTRAP_ABI) give_up("%s has ABI %u", path, plugin->abi);
  if (plugin->open == NULL) give_up("cannot be used: %s", plugin->name);
  return plugin;
}

static void open_plugin(Plugin plugin) {
  must(plugin->open(&reason), "open");
  must(plugin->identity(&own_rank, &task_count, &reason), "identity");
  if (own_rank >= task_count) give_up("identity is out of range");
}

static void check_one(Plugin plugin) {
  open_plugin(plugin);
  for (int round = 0; round < kGathers; ++round) try_allgather(plugin, round);
  for (int round = 0; round < kBroadcasts; ++round) try_broadcast(plugin, kGathers + round);
  must(plugin->close(&reason), "close");
  printf("ok %u/%u %s\n", own_rank, task_count, plugin->name);
}

static void check_two(Plugin outer, Plugin inner) {
  open_plugin(outer);
  const uint32_t rank_outside = own_rank;
  const uint32_t tasks_outside = task_count;
  open_plugin(inner);
  if (own_rank != rank_outside || task_count != tasks_outside) {
    give_up("rank %u of %u outside", rank_outside, tasks_outside);
  }
  for (int round = 0; round < kGathers; ++round) try_allgather(outer, round);
  try_allgather(outer, 0); /* before the first message of the inner one, as the launcher does */
  for (int round = 0; round < kBroadcasts; ++round) try_broadcast(inner, kGathers + round);
  try_allgather(outer, 0);
  must(inner->close(&reason), "close of the inner one");
  if ((outer->flags & PADDLE_LAUNCH_INNER_TAKES_LEAVE) == 0) {
    must(outer->close(&reason), "close of the outer one");
  }
  printf("ok %u/%u %s in %s\n", own_rank, task_count, inner->name, outer->name);
}

static void check_abort(Plugin plugin) {
  if (plugin->abort == NULL) give_up("there is no abort");
  open_plugin(plugin);
  try_allgather(plugin, 0);
  if (own_rank + 1 == task_count) plugin->abort(kAbortStatus, "aborted by the check");
  /* The end comes from outside, also for the one that aborts: PMIx_Abort returns. Nobody waits in
   * an exchange: mpirun 4.1.4 then crashes or hangs itself now and then (in PMIx_server_finalize).
   */
  sleep(kSecondsToDie);
  give_up("still here after the abort");
}

int main(int count, char** words) {
  if (count == 2) {
    check_one(load(words[1]));
  } else if (count == 3 && strcmp(words[1], "--abort") == 0) {
    check_abort(load(words[2]));
  } else if (count == 3) {
    check_two(load(words[1]), load(words[2]));
  } else {
    fprintf(stderr, "use: %s [--abort] PLUGIN [INNER_PLUGIN]\n", words[0]);
    return 2;
  }
  return 0;
}
