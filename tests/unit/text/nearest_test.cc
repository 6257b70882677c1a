// SPDX-License-Identifier: Apache-2.0
// Guessing what was meant.
#include "launcher/text/nearest.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(EditDistance, CountsEachKindOfSlipAsOne) {
  EXPECT_EQ(edit_distance("gpus", "gpus"), 0U);
  EXPECT_EQ(edit_distance("gpu", "gpus"), 1U);
  EXPECT_EQ(edit_distance("gpuss", "gpus"), 1U);
  EXPECT_EQ(edit_distance("gqus", "gpus"), 1U);
  EXPECT_EQ(edit_distance("gpsu", "gpus"), 1U);
  EXPECT_EQ(edit_distance("", "gpus"), 4U);
  EXPECT_EQ(edit_distance("gpus", ""), 4U);
}

TEST(Nearest, IsTheOneWithTheFewestSlips) {
  EXPECT_EQ(nearest("log_dri", {"ips", "log_dir", "log_level"}), "log_dir");
}

TEST(Nearest, IsTheFirstAmongEquals) { EXPECT_EQ(nearest("zpus", {"gpus", "xpus"}), "gpus"); }

TEST(Nearest, IsNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("learning_rate", {"ips", "gpus"}), std::nullopt);
  EXPECT_EQ(nearest("gpus", {}), std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
