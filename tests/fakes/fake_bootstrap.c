/* SPDX-License-Identifier: Apache-2.0
 * A fake of what brings tasks together: a scheduler of one task that fails as FAKE_BOOTSTRAP says
 * (hang, fail, crash, other_abi, unusable); anything else: it works. FAKE_BOOTSTRAP_LOG names a
 * file that gets a line for each call, with the name of the plugin's file. When its process exits
 * it makes the file FAKE_BOOTSTRAP_LEAVE.
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

static void write_down(const char* call) {
  Dl_info own;
  const char* path = getenv("FAKE_BOOTSTRAP_LOG");
  FILE* file = path != NULL && dladdr((void*)is_asked_to, &own) != 0 ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  fprintf(file, "%s %s\n", strrchr(own.dli_fname, '/') + 1, call);
  fclose(file);
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
  write_down("open");
  if (!is_asked_to("fail")) return 0;
  snprintf(why->text, why->size, "the fake was asked to fail");
  return 1;
}

static int identity(uint32_t* rank, uint32_t* size, paddle_launch_reason* why) {
  (void)why;
  *rank = 0;
  *size = 1;
  return 0;
}

static int gather(const void* bytes, size_t size, paddle_launch_take take, void* user,
                  paddle_launch_reason* why) {
  (void)why;
  write_down("gather");
  take(user, 0, bytes, size);
  return 0;
}

static int broadcast(const void* bytes, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  (void)why;
  write_down("broadcast");
  take(user, 0, bytes, size);
  return 0;
}

static int close_fake(paddle_launch_reason* why) {
  (void)why;
  write_down("close");
  return 0;
}

__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static paddle_launch_bootstrap_v1 fake = {PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                            0,
                                            "a fake",
                                            open_fake,
                                            identity,
                                            gather,
                                            broadcast,
                                            NULL,
                                            close_fake};
  fake.abi = is_asked_to("other_abi") ? 99 : PADDLE_LAUNCH_BOOTSTRAP_ABI;
  if (is_asked_to("inner_takes_leave")) fake.flags = PADDLE_LAUNCH_INNER_TAKES_LEAVE;
  if (is_asked_to("unusable")) {
    fake.open = NULL;
    fake.name = "the fake was asked to be unusable";
  }
  return &fake;
}
