// SPDX-License-Identifier: Apache-2.0
// How far another machine's clock is from ours, and how sure that is: asked and answered, the
// answer was read somewhere between.
#pragma once

#include <chrono>

namespace paddle_launch {

class ClockOffset {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  // `theirs` was read after `asked` and before `answered`.
  ClockOffset(Time asked, Time theirs, Time answered)
      : offset_(theirs - (asked + (answered - asked) / 2)),
        error_((answered - asked) / 2),
        measured_(answered) {}

  // A moment of theirs on our clock.
  Time ours(Time theirs) const { return theirs - offset_; }
  // Clocks that nobody disciplines drift apart: the older the sample, the less it says.
  Duration error(Time now) const { return error_ + (now - measured_) / kDriftDivisor; }

 private:
  static constexpr int kDriftDivisor = 10'000;  // 100 ppm, the worst of usual quartz

  Duration offset_;
  Duration error_;
  Time measured_;
};

}  // namespace paddle_launch
