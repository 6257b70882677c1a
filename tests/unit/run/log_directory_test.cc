// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/log_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/site/log_place.h"
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
  prepare_log_directory(deep);
  prepare_log_directory(deep);
  EXPECT_TRUE(fs::is_directory(deep));
}

TEST_F(LogDirectory, ThatIsAFileIsWrongUse) {
  write(folder_ / "log", "mine");
  EXPECT_THROW(prepare_log_directory(folder_ / "log"), UsageError);
  EXPECT_EQ(content(folder_ / "log"), "mine");
}

TEST_F(LogDirectory, ThatCannotBeMadeIsToldWithTheReasonOfTheFirstCall) {
  // Nobody may make one there, root included, and so there is none to look at either.
  try {
    prepare_log_directory("/sys/paddle-launch-test");
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
  EXPECT_EQ(ends[0]->when_it_had(6), "first\n");
  EXPECT_EQ(ends[0]->when_it_had(-1), "");
  EXPECT_EQ(ends[0]->when_it_had(1000), "first\nlast\n") << "somebody emptied it";
  EXPECT_TRUE(ends[2]->when_it_had(100'001).ends_with("xe"));
  EXPECT_EQ(ends[2]->when_it_had(5), "") << "too long ago";
}

TEST_F(LogDirectory, ALogThatIsNoRegularFileIsWrongUse) {
  write(folder_ / "target", "mine");
  fs::create_symlink("target", folder_ / "link");
  fs::create_directory(folder_ / "directory");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0666), 0);
  for (const char* name : {"link", "directory", "pipe"}) {
    EXPECT_THROW(open_log(folder_ / name), UsageError) << name;
  }
  EXPECT_EQ(content(folder_ / "target"), "mine");
  EXPECT_FALSE(append_to_logs({{folder_ / "link", "==== end\n"}}));
  EXPECT_FALSE(read_log_ends({folder_ / "pipe"}).at(0));
}

TEST_F(LogDirectory, AnOpenLogIsAppendedToAndBlocks) {
  write(folder_ / "log", "first\n");
  const UniqueFd log = open_log(folder_ / "log");
  EXPECT_EQ(fcntl(log.get(), F_GETFL) & (O_APPEND | O_NONBLOCK), O_APPEND);
}

TEST_F(LogDirectory, TheFollowedLogIsTheOneThatThePlanNames) {
  ProcessPlan plan;
  EXPECT_TRUE(followed_logs(plan, {}, false).empty());
  plan.processes = {{.role = Role::Server, .rank = 0, .log_path = folder_ / "serverlog.0"},
                    {.role = Role::Trainer, .rank = 4, .log_path = folder_ / "workerlog.4"}};
  plan.followed = 1;
  const auto followed = followed_logs(plan, {"s0", "s1"}, false);
  ASSERT_EQ(followed.size(), 1U);
  EXPECT_EQ(followed[0].process, (ProcessName{Role::Trainer, 4}));
  EXPECT_EQ(followed[0].start_line, "s1");
  EXPECT_EQ(followed_logs(plan, {"s0", "s1"}, true).size(), 2U);
}

}  // namespace
}  // namespace paddle_launch
