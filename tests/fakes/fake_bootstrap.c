/* SPDX-License-Identifier: Apache-2.0
 * A fake of what brings tasks together: a scheduler of one task that fails as FAKE_BOOTSTRAP says
 * (hang, fail, crash, other_abi); anything else: it works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/bootstrap_abi.h"

static int is_asked_to(const char* what) {
  const char* asked = getenv("FAKE_BOOTSTRAP");
  return asked != NULL && strcmp(asked, what) == 0;
}

static int open_fake(paddle_launch_reason* why) {
  if (is_asked_to("hang")) pause();
  if (is_asked_to("crash")) abort();
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
  return &fake;
}
