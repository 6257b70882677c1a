// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/ipv4.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(ParseIpv4, TakesFourNumbersAndNothingElse) {
  EXPECT_EQ(parse_ipv4("10.0.0.7"), 0x0a000007U);
  EXPECT_EQ(parse_ipv4("255.255.255.255"), 0xffffffffU);
  for (const char* text : {"", "10.1", "10.0.0.256", "10.0.0.7.1", "0x7f.0.0.1", " 10.0.0.7",
                           "10.0.0.7 ", "10.0.0.+7", "n1", "::1"}) {
    EXPECT_EQ(parse_ipv4(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_ipv4(std::string("10.0.0.7\0x", 10)), std::nullopt);
}

TEST(FormatIpv4, WritesWhatParseReads) {
  EXPECT_EQ(format_ipv4(0x7f000101U), "127.0.1.1");
  EXPECT_EQ(parse_ipv4(format_ipv4(0xc0a80307U)), 0xc0a80307U);
}

TEST(IsLoopback, KnowsTheWholeNet) {
  EXPECT_TRUE(is_loopback(0x7f000001U));
  EXPECT_TRUE(is_loopback(0x7fffffffU));
  EXPECT_FALSE(is_loopback(0x80000001U));
}

}  // namespace
}  // namespace paddle_launch
