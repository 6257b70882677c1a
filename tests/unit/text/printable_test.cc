// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

TEST(Printable, KeepsTextAndShowsTheRestAsHex) {
  EXPECT_EQ(printable("训练 ok\ttab\n"), "训练 ok\ttab\n");
  EXPECT_EQ(printable("\x1b[31mred\xff\x00"), "\\x1b[31mred\\xff");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control character";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "the same in an overlong form";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a character for UTF-16";
}

TEST(OneLine, LetsNobodyForgeTheNextOne) {
  EXPECT_EQ(one_line("10.0.0.3\n  what      all is well\r"),
            "10.0.0.3   what      all is well\\x0d");
}

}  // namespace
}  // namespace paddle_launch
