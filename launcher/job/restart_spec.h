// SPDX-License-Identifier: Apache-2.0
// How often, after what, and how soon a failed job is started again.
#pragma once

#include <chrono>
#include <set>

namespace paddle_launch {

// --restart_on: which failures are worth another try.
struct RestartCauses {
  bool any_code = true;
  std::set<int> codes{};  // where not any
  bool any_signal = true;
  std::set<int> signals{};  // where not any
  bool lost_node = true;

  bool operator==(const RestartCauses&) const = default;
};

struct RestartSpec {
  int most = 0;                                 // --max_restart
  std::chrono::milliseconds first_pause{1000};  // --restart_pause; doubles with each quick failure
  RestartCauses on{};

  bool operator==(const RestartSpec&) const = default;
};

// A trainer that exits with it asks to be started again, as in Paddle.
constexpr int kStartMeAgain = 102;

}  // namespace paddle_launch
