// SPDX-License-Identifier: Apache-2.0
// What stands on the screen when a trainer failed: the documented ABORT line, and under it who,
// where, how, when, and the end of its log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/outcome.h"
#include "launcher/job/process_spec.h"

namespace paddle_launch {

// The ranks, ascending, that failed by themselves before they were told to stop.
std::vector<int> culprits(const std::vector<ProcessExit>& exits, const ProcessPlan& plan);
std::vector<int> victims(const std::vector<ProcessExit>& exits, const ProcessPlan& plan);

// "ABORT!!! Out of all 8 trainers, the trainer process with rank=[2,3] was aborted. Please check
// its log."
std::string abort_line(int world_size, const std::vector<int>& ranks);

// A rank that was stopped, or died after the first, although its log says that it began.
struct Suspicion {
  int worker = 0;
  std::string log_excerpt{};
};

struct FailureFacts {
  std::string node{};         // host name and, where it differs, the address in the endpoints
  std::string when{};         // local time of the first failure
  std::string log_excerpt{};  // of the first failure's log; empty: nothing was written
  bool log_readable = true;
  long oom_kills = 0;
  std::optional<Suspicion> suspicion{};
};

std::string failure_report(const ProcessExit& first, const std::vector<ProcessExit>& exits,
                           const ProcessPlan& plan, const FailureFacts& facts);

}  // namespace paddle_launch
