// SPDX-License-Identifier: Apache-2.0
// The verdict over a whole job, pure: what each pod told comes in, all times on one clock; who was
// first comes out, with doubt where the clocks do not allow to say.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/ending.h"

namespace paddle_launch {

// What is known of one pod at the end.
struct PodAccount {
  std::string host{};  // as in the endpoints
  int first_rank = 0;
  int ranks = 0;
  std::optional<PodEnding> ending{};
  // What it said, or what was found out about it, before the end.
  std::optional<StopCause> cause{};
  std::chrono::nanoseconds error{0};  // of its times
};

JobVerdict judge(const std::vector<PodAccount>& pods);

}  // namespace paddle_launch
