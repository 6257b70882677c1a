// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/log_directory.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

namespace fs = std::filesystem;

class LogDirectory : public testing::Test {
 protected:
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

TEST_F(LogDirectory, IsMadeWithItsParents) {
  const fs::path deep = folder_ / "a/b/c";
  prepare_log_directory(deep, {});
  prepare_log_directory(deep, {});
  EXPECT_TRUE(fs::is_directory(deep));
}

TEST_F(LogDirectory, ThatIsAFileIsWrongUse) {
  write(folder_ / "log", "mine");
  EXPECT_THROW(prepare_log_directory(folder_ / "log", {}), UsageError);
  EXPECT_EQ(content(folder_ / "log"), "mine");
}

TEST_F(LogDirectory, ThatCannotBeMadeIsToldWithTheReasonOfTheFirstCall) {
  // Nobody may make one there, root included, and so there is none to look at either.
  try {
    prepare_log_directory("/sys/paddle-launch-test", {});
    ADD_FAILURE() << "made";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("cannot make /sys/paddle-launch-test: "), std::string::npos) << text;
    EXPECT_EQ(text.find("No such file or directory"), std::string::npos) << text;
  }
}

TEST_F(LogDirectory, AppendedLinesStandOnALineOfTheirOwn) {
  write(folder_ / "a", "no newline");
  write(folder_ / "b", "newline\n");
  EXPECT_TRUE(append_to_logs({{folder_ / "a", "==== end\n"}, {folder_ / "b", "==== end\n"}}));
  EXPECT_EQ(content(folder_ / "a"), "no newline\n==== end\n");
  EXPECT_EQ(content(folder_ / "b"), "newline\n==== end\n");
}

TEST_F(LogDirectory, ALogThatIsGoneIsNotMadeAgain) {
  EXPECT_FALSE(append_to_logs({{folder_ / "gone", "==== end\n"}}));
  EXPECT_FALSE(fs::exists(folder_ / "gone"));
}

TEST_F(LogDirectory, LogEndsComeBackInOrderWithTheirTimes) {
  write(folder_ / "a", "first\nlast\n");
  write(folder_ / "b", std::string(100'000, 'x') + "end");
  const auto ends = read_log_ends({folder_ / "a", folder_ / "gone", folder_ / "b"});
  ASSERT_EQ(ends.size(), 3U);
  ASSERT_TRUE(ends[0]);
  EXPECT_EQ(ends[0]->bytes, "first\nlast\n");
  EXPECT_GT(ends[0]->written_ns, 1'000'000'000'000'000'000);
  EXPECT_FALSE(ends[1]);
  ASSERT_TRUE(ends[2]);
  EXPECT_TRUE(ends[2]->bytes.ends_with("xend"));
}

TEST_F(LogDirectory, FollowedLogsBeginWhereThisRunBegins) {
  write(folder_ / "workerlog.0", "an earlier run\n");
  ProcessPlan plan;
  plan.processes = {{.rank = 0, .log_path = folder_ / "workerlog.0"},
                    {.rank = 1, .log_path = folder_ / "workerlog.1"}};
  const auto rank_zero = open_followed_logs(plan, {"s0", "s1"}, false, false);
  ASSERT_EQ(rank_zero.size(), 1U);
  EXPECT_EQ(rank_zero[0].from, 15);
  const auto all = open_followed_logs(plan, {"s0", "s1"}, true, true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].from, 0) << "emptied by --log_overwrite";
}

TEST_F(LogDirectory, TheFollowedLogIsTheOneThatThePlanNames) {
  ProcessPlan plan;
  EXPECT_TRUE(open_followed_logs(plan, {}, false, false).empty());
  plan.processes = {{.role = Role::Server, .rank = 0, .log_path = folder_ / "serverlog.0"},
                    {.role = Role::Trainer, .rank = 4, .log_path = folder_ / "workerlog.4"}};
  plan.followed = 1;
  const auto followed = open_followed_logs(plan, {"s0", "s1"}, false, false);
  ASSERT_EQ(followed.size(), 1U);
  EXPECT_EQ(followed[0].process, (ProcessName{Role::Trainer, 4}));
  EXPECT_EQ(followed[0].start_line, "s1");
  EXPECT_EQ(open_followed_logs(plan, {"s0", "s1"}, true, false).size(), 2U);
}

}  // namespace
}  // namespace paddle_launch
