// SPDX-License-Identifier: Apache-2.0
// Lists taken apart.
#include <gtest/gtest.h>

#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Split, CutsAtEachSeparator) { EXPECT_EQ(split("a,b,c", ','), (Parts{"a", "b", "c"})); }

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
}

TEST(Split, FindsNothingInNothing) { EXPECT_EQ(split("", ','), Parts{}); }

}  // namespace
}  // namespace paddle_launch
