// SPDX-License-Identifier: Apache-2.0
// What whoever started the launcher left to it and to the trainers. The launcher changes it for
// itself; a trainer is to find it as it was.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace paddle_launch {

struct Inherited {
  sigset_t mask{};               // blocked signals
  bool ignores_sigchld = false;  // the kernel would throw away how children ended
  rlimit open_files{};           // all zero: not known, and left as it is
};

// Before anything of it is changed.
Inherited what_was_inherited();

// Port locks, logs and sockets of large pods need more descriptors than the usual soft limit
// allows.
void raise_open_files();

}  // namespace paddle_launch
