// SPDX-License-Identifier: Apache-2.0
// What stands on the screen when a process failed: the documented ABORT line, and under it who,
// where, how, when, and the end of its log. The same on every node of the job.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

// Those, ascending, who were told to stop before they had ended.
std::vector<ProcessName> victims(const std::vector<ProcessExit>& exits, const ProcessPlan& plan);

// "ABORT!!! Out of all 8 trainers, the trainer process with rank=[2,3] was aborted. Please check
// its log." Of servers and heter workers: "the server process with index=[2]". Names only those who
// have the role of the first.
std::string abort_line(int world_size, const std::vector<ProcessName>& aborted);

// "card 3", "card 0,1", or "CPU".
std::string cards_of(const ProcessSpec& spec);

// What of a failure only its own node can know, besides the exit itself.
struct FailureFacts {
  std::string node{};         // host name and, where it differs, the address in the endpoints
  std::string when{};         // local time of the failure
  std::string log_excerpt{};  // empty: nothing was written, or it is not the first failure
  std::string error{};
  bool log_readable = true;
  long oom_kills = kOomKillsUnknown;
};

FailureRecord failure_record(const ProcessExit& exit, const ProcessSpec& spec, FailureFacts facts);

// Shows verdict.failures.front() in full when the first cause is a failed worker that is known;
// otherwise first.text, which for a lost node is the sentence "192.168.0.3 was lost: no answer",
// with verdict.aborted as the processes that were lost on it.
std::string failure_report(const JobVerdict& verdict, int nodes);

}  // namespace paddle_launch
