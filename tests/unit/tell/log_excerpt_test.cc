// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/tell/log_lines.h"

namespace paddle_launch {
namespace {

std::string lines(const std::string& word, int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += word + std::to_string(i) + "\n";
  return text;
}

TEST(LogExcerpt, IsTheLastTwentyLines) {
  EXPECT_EQ(log_excerpt(lines("line ", 1, 50), kLogLineMark), lines("line ", 31, 50));
  EXPECT_EQ(log_excerpt("", kLogLineMark), "");
}

TEST(LogExcerpt, ShowsAWholeTracebackHoweverLong) {
  const std::string traceback = "Traceback (most recent call last):\n" +
                                lines("  File frame ", 1, 60) + "ValueError: broken\n";
  EXPECT_EQ(log_excerpt(lines("before ", 1, 30) + traceback, kLogLineMark), traceback);
}

TEST(LogExcerpt, ShowsChainedExceptionsTogether) {
  const std::string first =
      "Traceback (most recent call last):\n" + lines("  a ", 1, 15) + "KeyError: 'x'\n";
  const std::string link =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  const std::string second =
      "Traceback (most recent call last):\n" + lines("  b ", 1, 15) + "RuntimeError: y\n";
  EXPECT_EQ(log_excerpt("noise\n" + first + link + second, kLogLineMark), first + link + second);
}

TEST(LogExcerpt, LeavesOutEarlierRuns) {
  const std::string mark = std::string(kLogLineMark) + "2026-01-01 rank 0 of 1: train.py ====\n";
  EXPECT_EQ(log_excerpt("old run\n" + mark + "new run\n", kLogLineMark), "new run\n");
}

TEST(LogExcerpt, IsFitForATerminal) {
  EXPECT_EQ(log_excerpt("\x1b[2Jbad\xff", kLogLineMark), "\\x1b[2Jbad\\xff\n");
}

TEST(LogExcerpt, ShortensAnEndlessLine) {
  EXPECT_LT(log_excerpt(std::string(100'000, 'x'), kLogLineMark).size(), 3000U);
}

}  // namespace
}  // namespace paddle_launch
