/* SPDX-License-Identifier: Apache-2.0
 * A fake of what brings tasks together: a scheduler of one task that fails as FAKE_BOOTSTRAP says
 * (hang, fail, crash, other_abi); anything else: it works. With mpi_opens_first a copy of it that
 * is called mpi.so wants to be opened first, and cannot be. When its process exits it makes the file
 * FAKE_BOOTSTRAP_LEAVE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/bootstrap_abi.h"

static int is_asked_to(const char* what) {
  const char* asked = getenv("FAKE_BOOTSTRAP");
  return asked != NULL && strcmp(asked, what) == 0;
}

static int is_mpi_that_opens_first(void) {
  Dl_info own;
  return is_asked_to("mpi_opens_first") && dladdr((void*)is_asked_to, &own) != 0 &&
         strstr(own.dli_fname, "/mpi.so") != NULL;
}

/* As MPICH from 4.2 on, which takes its leave of mpiexec here. */
static void take_leave(void) {
  FILE* file = fopen(getenv("FAKE_BOOTSTRAP_LEAVE"), "w");
  if (file != NULL) fclose(file);
}

static int open_fake(paddle_launch_reason* why) {
  if (getenv("FAKE_BOOTSTRAP_LEAVE") != NULL) atexit(take_leave);
  if (is_asked_to("hang")) pause();
  if (is_asked_to("crash")) abort();
  if (!is_asked_to("fail") && !is_mpi_that_opens_first()) return 0;
  snprintf(why->text, why->size, "the fake was asked to fail");
  return 1;
}

static int identity(uint32_t* rank, uint32_t* size, paddle_launch_reason* why) {
  (void)why;
  *rank = 0;
  *size = 1;
  return 0;
}

static int give_back(const void* bytes, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  (void)why;
  take(user, 0, bytes, size);
  return 0;
}

static int close_fake(paddle_launch_reason* why) {
  (void)why;
  return 0;
}

__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static paddle_launch_bootstrap_v1 fake = {PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                            0,
                                            "a fake",
                                            open_fake,
                                            identity,
                                            give_back,
                                            give_back,
                                            NULL,
                                            close_fake};
  fake.abi = is_asked_to("other_abi") ? 99 : PADDLE_LAUNCH_BOOTSTRAP_ABI;
  fake.flags = is_mpi_that_opens_first() ? PADDLE_LAUNCH_OPENS_FIRST : 0;
  return &fake;
}
