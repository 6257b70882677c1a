// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/words.h"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

ProcessPlan four_processes() {
  ProcessPlan plan;
  plan.program = "/usr/bin/python3";
  for (int rank = 0; rank < 4; ++rank) {
    plan.processes.push_back({.rank = rank, .log_path = "log/workerlog." + std::to_string(rank)});
  }
  return plan;
}

TEST(DescribeExit, SaysCodeSignalAndCore) {
  EXPECT_EQ(describe(ProcessExit{.code = 7}), "exit code 7");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGSEGV, .core_dumped = true}),
            "killed by SIGSEGV (core dumped)");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGTERM}), "killed by SIGTERM");
}

TEST(DescribeExit, SuspectsTheOomKiller) {
  EXPECT_EQ(describe(ProcessExit{.code = 137}), "exit code 137: probably killed by the OOM killer");
  EXPECT_EQ(describe(ProcessExit{.signal = SIGKILL}),
            "killed by SIGKILL: probably killed by the OOM killer");
  EXPECT_NE(describe(ProcessExit{.signal = SIGKILL}, 1).find("the kernel counted one"),
            std::string::npos);
  EXPECT_EQ(describe(ProcessExit{.signal = SIGKILL, .was_told_to_stop = true}),
            "killed by SIGKILL");
}

TEST(DescribeOutcome, NamesTheRank) {
  EXPECT_EQ(describe(Outcome(Failed{{.worker = 3, .code = 7}}), four_processes()),
            "rank 3 failed: exit code 7");
  EXPECT_EQ(describe(Outcome(Interrupted{SIGTERM}), four_processes()),
            "the launcher was stopped by SIGTERM");
}

TEST(DescribeNotStarted, NamesRankStepReasonAndRemedy) {
  const ProcessPlan plan = four_processes();
  const std::string fork = describe(NotStarted{.worker = 2, .error = EAGAIN, .step = "fork"}, plan);
  EXPECT_EQ(fork.find("rank 2 could not be started: fork: Resource temporarily unavailable"), 0U);
  EXPECT_NE(fork.find("RLIMIT_NPROC"), std::string::npos);
  EXPECT_NE(
      describe(NotStarted{.worker = 0, .error = ENOENT, .exec = true, .step = "execute"}, plan)
          .find("execute /usr/bin/python3: No such file"),
      std::string::npos);
  EXPECT_NE(describe(NotStarted{.worker = 1, .error = ENOSPC, .step = "open the log"}, plan)
                .find("open the log log/workerlog.1: No space left"),
            std::string::npos);
}

TEST(RankRanges, JoinsNeighbours) {
  EXPECT_EQ(rank_ranges({0, 1, 2, 4, 7, 6}), "0-2,4,6-7");
  EXPECT_EQ(rank_ranges({}), "");
}

TEST(Printable, KeepsTextAndShowsTheRestAsHex) {
  EXPECT_EQ(printable("训练 ok\ttab\n"), "训练 ok\ttab\n");
  EXPECT_EQ(printable("\x1b[31mred\xff\x00"), "\\x1b[31mred\\xff");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control character";
}

}  // namespace
}  // namespace paddle_launch
