// SPDX-License-Identifier: Apache-2.0
// Strings as Python 3 prints them; the expectations are Python's own output.
#include "launcher/text/python_repr.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

struct Row {
  std::string_view text;
  std::string_view repr;
};

constexpr Row kRows[] = {
    {"plain", "'plain'"},
    {"", "''"},
    {"it's", "\"it's\""},
    {"say \"hi\"", "'say \"hi\"'"},
    {"it's \"both\"", "'it\\'s \"both\"'"},
    {"back\\slash", "'back\\\\slash'"},
    {"a\x0a"
     "b\x0d"
     "c\x09"
     "d",
     "'a\\nb\\rc\\td'"},
    {"\x1b[0m\x7f", "'\\x1b[0m\\x7f'"},
    {"\xe8\xae\xad\xe7\xbb\x83", "'\xe8\xae\xad\xe7\xbb\x83'"},
    {"a\xc2\xa0"
     "b",
     "'a\\xa0b'"},
    {"\xe2\x80\x8b\xe3\x80\x80\xef\xbb\xbf", "'\\u200b\\u3000\\ufeff'"},
    {"\xf0\x9f\x98\x80", "'\xf0\x9f\x98\x80'"},
    {"\xc3\xa9\xc2\xad", "'\xc3\xa9\\xad'"},
    {"\xff\xfe", "'\\udcff\\udcfe'"},
    {"ok\xe8\xae", "'ok\\udce8\\udcae'"},
    {"\xed\xa0\x80", "'\\udced\\udca0\\udc80'"},
    {"\xc0\xaf", "'\\udcc0\\udcaf'"},
    {"\xf4\x90\x80\x80", "'\\udcf4\\udc90\\udc80\\udc80'"},
    {"\xf3\xb0\x80\x81", "'\\U000f0001'"},
    {"\xe2\x80\xa9", "'\\u2029'"},
};

TEST(PythonRepr, IsWhatPythonPrints) {
  for (const Row& row : kRows) EXPECT_EQ(python_repr(row.text), row.repr);
}

TEST(PythonRepr, WritesListsWithCommaAndBlank) {
  EXPECT_EQ(python_repr(std::vector<std::string>{}), "[]");
  EXPECT_EQ(python_repr(std::vector<std::string>{"--lr", "0.1", ""}), "['--lr', '0.1', '']");
}

}  // namespace
}  // namespace paddle_launch
