// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/inherited.h"

#include "launcher/os/check.h"
#include "launcher/os/signals.h"

namespace paddle_launch {

Inherited what_was_inherited() {
  Inherited found{.ignores_sigchld = is_ignored(SIGCHLD)};
  check(sigprocmask(SIG_SETMASK, nullptr, &found.mask), "sigprocmask");
  if (getrlimit(RLIMIT_NOFILE, &found.open_files) != 0) found.open_files = {};
  return found;
}

void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace paddle_launch
