// SPDX-License-Identifier: Apache-2.0
// How a process ended, and why one could not be started, in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/outcome.h"
#include "launcher/job/process_spec.h"

namespace paddle_launch {

// "exit code 7", "killed by SIGSEGV (core dumped)", "exit code 137: probably killed by the OOM
// killer". `oom_kills`: how many processes the kernel's OOM killer ended on this machine during the
// run.
std::string describe(const ProcessExit& exit, long oom_kills = 0);

// What was tried, why it failed, what to do.
std::string describe(const NotStarted& problem, const ProcessPlan& plan);

// The verdict in one line: "rank 3 failed: exit code 7", "the launcher was stopped by SIGTERM".
std::string describe(const Outcome& verdict, const ProcessPlan& plan, long oom_kills = 0);

// "0-2,5" for people.
std::string rank_ranges(std::vector<int> ranks);

// Whatever a log or a user put there, fit for a terminal: control bytes and broken UTF-8 as \xNN.
std::string printable(std::string_view bytes);

}  // namespace paddle_launch
