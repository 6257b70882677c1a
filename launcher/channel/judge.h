// SPDX-License-Identifier: Apache-2.0
// The verdict over a whole job, pure: what each pod told comes in, all times on one clock; who was
// first comes out, with doubt where the clocks do not allow to say.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/pod.h"
#include "launcher/job/role.h"

namespace paddle_launch {

// What is known of one pod at the end.
struct PodAccount {
  std::string host{};                // as in the endpoints
  std::vector<ProcessName> names{};  // of its processes
  std::optional<PodEnding> ending{};
  // What it said, or what was found out about it, before the end.
  std::optional<StopCause> cause{};
  std::chrono::nanoseconds error{0};  // of its times
};

// The same pods with nothing that went wrong: when all the work is done, the rest is no failure.
std::vector<PodAccount> without_causes(std::vector<PodAccount> pods);

JobVerdict judge(const std::vector<PodAccount>& pods);

// The accounts to begin with: who is where, and has which processes. Of several launchers on a node
// each is told from the others: "10.0.0.3 (launcher of ranks 2 to 3)".
std::vector<PodAccount> open_accounts(const Roster& roster);

}  // namespace paddle_launch
