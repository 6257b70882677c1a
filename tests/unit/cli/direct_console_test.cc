// SPDX-License-Identifier: Apache-2.0
// --console direct, --report and --stop_with_parent.
#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

TEST(ConsoleDirect, IsAWayToShowOutput) {
  EXPECT_EQ(job_with({"--console=direct"}).console, ConsoleMode::Direct);
  EXPECT_EQ(job_with({}).console, ConsoleMode::RankZero);
}

TEST(ConsoleDirect, ContradictsWhatWasTypedAboutLogs) {
  expect_errors(
      {{{"--console=direct", "--log_dir=x"}, {"--console=direct", "--log_dir=x", "leave out"}},
       {{"--console=direct", "--log_overwrite=1"}, {"--console=direct", "--log_overwrite"}},
       {{"--console=direct", "--log_names=local"}, {"--console=direct", "--log_names=local"}}});
  EXPECT_EQ(job_with({"--console=direct", "--log_overwrite=0"}).console, ConsoleMode::Direct);
}

TEST(ConsoleDirect, VariablesOfAllJobsOfAUserDoNotContradictIt) {
  const Environment env = {{"PADDLE_LOG_DIR", "x"}, {"PADDLE_LOG_OVERWRITE", "1"}};
  EXPECT_EQ(job_with({"--console=direct"}, env).console, ConsoleMode::Direct);
}

TEST(Report, NamesAFile) {
  EXPECT_EQ(job_with({"--report=end.json"}).report, "end.json");
  EXPECT_FALSE(job_with({}).report);
}

TEST(Report, IsRefusedWhereNoJobIsStarted) {
  EXPECT_EQ(missing_part({{"--report=r", "--dry_run"}, {"--report=r", "--dry_run"}}), "");
}

TEST(Report, IsKnownWhereTheRestMakesNoSense) {
  EXPECT_EQ(typed_report({"paddle-launch", "--report=r", "--console=nonsense", "train.py"}), "r");
  EXPECT_EQ(typed_report({"paddle-launch", "--report", "r"}), "r");
  EXPECT_EQ(typed_report({"paddle-launch", "train.py", "--report", "r"}), std::nullopt);
  EXPECT_EQ(typed_report({"paddle-launch", "--report=r", "--no_such_option"}), std::nullopt);
}

TEST(StopWithParent, IsOffUnlessAskedFor) {
  EXPECT_TRUE(job_with({"--stop_with_parent"}).stop_with_parent);
  EXPECT_FALSE(job_with({}).stop_with_parent);
}

}  // namespace
}  // namespace paddle_launch
