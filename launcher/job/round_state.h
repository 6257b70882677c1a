// SPDX-License-Identifier: Apache-2.0
// Where a job of several rounds stands. Every pod knows it, so that any of them can go on when the
// one that held the job together is lost.
#pragma once

#include <chrono>

namespace paddle_launch {

struct RoundState {
  int number = 0;          // of the round, from 0
  int restarts = 0;        // used up so far
  int quick_failures = 0;  // in a row: rounds that failed soon after their start

  bool operator==(const RoundState&) const = default;
};

struct NextRound {
  RoundState state{};
  std::chrono::milliseconds pause{0};  // before it begins
  bool has_settled = false;            // its nodes were known before the last round was stopped

  bool operator==(const NextRound&) const = default;
};

}  // namespace paddle_launch
