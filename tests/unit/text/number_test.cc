// SPDX-License-Identifier: Apache-2.0
// Numbers as people type them.
#include "launcher/text/number.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(ParseWholeNumber, TakesDecimalDigitsWithAMinus) {
  EXPECT_EQ(parse_whole_number("0"), 0);
  EXPECT_EQ(parse_whole_number("65535"), 65535);
  EXPECT_EQ(parse_whole_number("-1"), -1);
  EXPECT_EQ(parse_whole_number("007"), 7);
}

TEST(ParseWholeNumber, RefusesEverythingElse) {
  for (const char* const text :
       {"", " 1", "1 ", "+1", "1.0", "0x10", "1e3", "eight", "-", "99999999999999999999"}) {
    EXPECT_EQ(parse_whole_number(text), std::nullopt) << text;
  }
}

TEST(ParseThousandths, TakesDecimals) {
  EXPECT_EQ(parse_thousandths("10"), 10'000);
  EXPECT_EQ(parse_thousandths("2.5"), 2'500);
  EXPECT_EQ(parse_thousandths(".25"), 250);
  EXPECT_EQ(parse_thousandths("3."), 3'000);
  EXPECT_EQ(parse_thousandths("0.0019"), 1);
}

TEST(ParseThousandths, RefusesEverythingElse) {
  for (const char* const text :
       {"", ".", "-1", "+1", "1e3", "1.2.3", " 1", "9223372036854775807"}) {
    EXPECT_EQ(parse_thousandths(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace paddle_launch
