// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/log_lines.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(LogStartLine, NamesDateRankAndCommand) {
  ProcessPlan plan;
  plan.argv = {"/usr/bin/python3", "-u", "train.py", "--name", "a b"};
  plan.world_size = 4;
  EXPECT_EQ(log_start_line(plan, {.rank = 2}, "2026-11-16 06:09:36,185"),
            "==== paddle-launch 2026-11-16 06:09:36,185 rank 2 of 4: /usr/bin/python3 -u train.py "
            "--name 'a b' ====\n");
}

TEST(LogStartLine, NamesEveryRoundButTheFirst) {
  ProcessPlan plan;
  plan.argv = {"true"};
  plan.world_size = 4;
  EXPECT_EQ(log_start_line(plan, {.rank = 2}, "now"),
            "==== paddle-launch now rank 2 of 4: true ====\n");
  plan.round = 1;
  EXPECT_EQ(log_start_line(plan, {.rank = 2}, "now"),
            "==== paddle-launch now round 1, rank 2 of 4: true ====\n");
  plan.round = 12;
  EXPECT_EQ(log_start_line(plan, {.role = Role::Server}, "now"),
            "==== paddle-launch now round 12, server 0 of 0: true ====\n");
}

TEST(LogStartLine, CountsServersApartFromRanks) {
  ProcessPlan plan;
  plan.argv = {"true"};
  plan.world_size = 4;
  plan.servers = 2;
  plan.heter_workers = 3;
  EXPECT_EQ(log_start_line(plan, {.role = Role::Server}, "now"),
            "==== paddle-launch now server 0 of 2: true ====\n");
  EXPECT_EQ(log_start_line(plan, {.role = Role::HeterWorker, .rank = 1}, "now"),
            "==== paddle-launch now heter worker 1 of 3: true ====\n");
}

TEST(LogStartLine, StaysOneLine) {
  ProcessPlan plan;
  plan.argv = {"sh", "-c", "first\nsecond\x1b"};
  const std::string line = log_start_line(plan, {}, "now");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

TEST(LogStopLine, NamesTheCause) {
  EXPECT_EQ(log_stop_line({.rank = 1}, "rank 3 failed: exit code 7", "now"),
            "==== paddle-launch now rank 1 was stopped because rank 3 failed: exit code 7 ====\n");
}

TEST(LogStopLine, NamesAServer) {
  EXPECT_EQ(log_stop_line({.role = Role::Server, .rank = 1}, "of a test", "now"),
            "==== paddle-launch now server 1 was stopped because of a test ====\n");
}

TEST(ShellQuoted, CanBeTypedAgain) {
  EXPECT_EQ(shell_quoted({"a", "", "it's", "x=1,2"}), "a '' 'it'\\''s' x=1,2");
}

}  // namespace
}  // namespace paddle_launch
