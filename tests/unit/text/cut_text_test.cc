// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

TEST(StartOfText, LeavesShortTextsAlone) {
  EXPECT_EQ(start_of_text("", 0), "");
  EXPECT_EQ(start_of_text("abc", 3), "abc");
  EXPECT_EQ(start_of_text("abcd", 3), "abc");
}

TEST(StartOfText, KeepsCharactersWhole) {
  EXPECT_EQ(start_of_text("a灯b", 4), "a灯");
  EXPECT_EQ(start_of_text("a灯b", 3), "a");
  EXPECT_EQ(start_of_text("a灯b", 2), "a");
  EXPECT_EQ(start_of_text("灯", 0), "");
}

TEST(StartOfText, CutsWhatIsNotUtf8Anywhere) {
  const std::string bytes(20, '\x80');
  EXPECT_EQ(start_of_text(bytes, 7).size(), 7U);
  EXPECT_EQ(end_of_text(bytes, 7).size(), 7U);
}

TEST(EndOfText, BeginsWithAWholeLine) {
  EXPECT_EQ(end_of_text("one\ntwo\nthree\n", 14), "one\ntwo\nthree\n");
  EXPECT_EQ(end_of_text("one\ntwo\nthree\n", 13), "two\nthree\n");
  EXPECT_EQ(end_of_text("one\ntwo\nthree\n", 10), "two\nthree\n");
  EXPECT_EQ(end_of_text("one\ntwo\nthree\n", 9), "three\n");
}

TEST(EndOfText, CutsALineThatIsTooLong) {
  EXPECT_EQ(end_of_text("one\nthousand\n", 5), "sand\n");
  EXPECT_EQ(end_of_text("one\nthousand", 3), "and");
  EXPECT_EQ(end_of_text("a灯b", 3), "b");
  EXPECT_EQ(end_of_text("abc", 0), "");
}

}  // namespace
}  // namespace paddle_launch
