// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/os/clock.h"

namespace paddle_launch {
namespace {

using std::chrono::steady_clock;

TEST(MillisecondsUntil, AMomentThatIsOverIsNowAndNotForEver) {
  const auto now = steady_clock::now();
  EXPECT_EQ(milliseconds_until(now), 0);
  EXPECT_EQ(milliseconds_until(now - std::chrono::hours(1)), 0);
}

TEST(MillisecondsUntil, NobodyWakesTooEarly) {
  EXPECT_GE(milliseconds_until(steady_clock::now() + std::chrono::minutes(1)), 59'000);
  EXPECT_LE(milliseconds_until(steady_clock::now() + std::chrono::minutes(1)), 60'000);
}

TEST(MillisecondsUntil, AMomentFarAwayFitsIntoAnInt) {
  EXPECT_EQ(milliseconds_until(steady_clock::now() + std::chrono::hours(24 * 365)), INT_MAX);
}

}  // namespace
}  // namespace paddle_launch
