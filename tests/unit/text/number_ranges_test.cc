// SPDX-License-Identifier: Apache-2.0
#include <climits>

#include <gtest/gtest.h>

#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

TEST(NumberRanges, JoinNeighbours) {
  EXPECT_EQ(number_ranges({0, 1, 2, 4, 7, 6}), "0-2,4,6-7");
  EXPECT_EQ(number_ranges({5}), "5");
  EXPECT_EQ(number_ranges({}), "");
}

TEST(NumberRanges, TellTwiceWhatIsThereTwice) {
  EXPECT_EQ(number_ranges({1, 1, 2}), "1,1-2");
  EXPECT_EQ(number_ranges({INT_MAX, INT_MAX, INT_MIN}), "-2147483648,2147483647,2147483647");
}

}  // namespace
}  // namespace paddle_launch
