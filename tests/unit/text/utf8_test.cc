// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/utf8.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

struct Row {
  std::string_view text;
  char32_t code;
  std::size_t length;
};

TEST(FirstUtf8Character, IsReadWithItsLength) {
  for (const Row& row : {Row{"ab", U'a', 1},
                         {"\xc3\xa9t", U'é', 2},
                         {"\xe8\xae\xad", U'训', 3},
                         {"\xf0\x9f\x98\x80!", U'\U0001F600', 4},
                         {"\xf4\x8f\xbf\xbf", U'\U0010FFFF', 4}}) {
    const Utf8Character found = first_utf8_character(row.text);
    EXPECT_EQ(found.code, row.code) << row.text;
    EXPECT_EQ(found.length, row.length) << row.text;
  }
}

TEST(FirstUtf8Character, IsNoneWhereTheBytesAreNotUtf8) {
  for (const std::string_view text :
       {"\x80", "\xff", "\xc3", "\xc3(", "\xe8\xae", "\xc0\xaf", "\xc1\xbf", "\xe0\x82\x9b",
        "\xf0\x80\x82\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_EQ(first_utf8_character(text).length, 0U) << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace paddle_launch
