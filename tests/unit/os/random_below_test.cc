// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gtest/gtest.h>

#include "launcher/os/clock.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

TEST(RandomBelow, StaysBelowItsLimitAndReachesAll) {
  std::set<int> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_below(4));
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3}));
}

TEST(Spread, IsBetweenTheHalfAndTheWhole) {
  std::set<milliseconds> seen;
  for (int i = 0; i < 1000; ++i) {
    const milliseconds pause = spread(milliseconds(1000));
    EXPECT_GE(pause, milliseconds(500));
    EXPECT_LE(pause, milliseconds(1000));
    seen.insert(pause);
  }
  EXPECT_GT(seen.size(), 100U);
  EXPECT_EQ(spread(milliseconds(1)), milliseconds(1));
}

}  // namespace
}  // namespace paddle_launch
