// SPDX-License-Identifier: Apache-2.0
// --elastic_pre_hook: the user's shell command before each round.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/os/event_loop.h"

namespace paddle_launch {

struct PreHookResult {
  std::string output{};   // stdout and stderr, the last 64 KiB of them
  std::string problem{};  // empty: it ended with 0. "exit code 3", "killed by SIGKILL", …
};

// Runs `/bin/sh -c command` in a process group of its own with stdin from /dev/null and `more`
// added to the environment; the loop goes on meanwhile. What is left of its process group when it
// ends, or when the loop throws (a signal to the launcher), is killed.
PreHookResult run_pre_hook(EventLoop& loop, const std::string& command,
                           const std::vector<std::pair<std::string, std::string>>& more);

}  // namespace paddle_launch
