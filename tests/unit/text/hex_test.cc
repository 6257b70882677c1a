// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/text/bytes_as_text.h"

namespace paddle_launch {
namespace {

TEST(InHex, HasTwoDigitsForEachByte) {
  EXPECT_EQ(in_hex(std::string("\x00\x0f\xff", 3)), "000fff");
  EXPECT_EQ(in_hex(""), "");
}

TEST(FromHex, GivesTheBytesBack) {
  EXPECT_EQ(from_hex("000fFF"), std::string("\x00\x0f\xff", 3));
  EXPECT_EQ(from_hex(""), "");
}

TEST(FromHex, RefusesWhatIsNotTwoDigitsForEachByte) {
  for (const char* const digits : {"0", "000", "0g", "g0", "-1", "+1", " 1", "0x"}) {
    EXPECT_EQ(from_hex(digits), std::nullopt) << digits;
  }
}

}  // namespace
}  // namespace paddle_launch
