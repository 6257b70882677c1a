// SPDX-License-Identifier: Apache-2.0
// Inside the launcher process of spawn(): a fork of the calling program that plans, runs and ends
// the job as paddle-launch does, and calls the function where that would execute a script.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "paddle_launch/spawn.h"
#include "spawn/board.h"

namespace paddle_launch {

// The calling program, as it was before the fork.
struct Caller {
  pid_t pid = -1;
  std::string name{};
  sigset_t mask{};
  std::vector<int> descriptors{};  // without 0, 1 and 2
};

// All signals are blocked. How it ends is told on the board.
[[noreturn]] void be_the_launcher(const Caller& caller, const std::function<void()>& function,
                                  const SpawnOptions& options, Board& board);

}  // namespace paddle_launch
