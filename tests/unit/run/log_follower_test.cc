// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/log_follower.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

constexpr const char* kStartLine = "==== our own line ====\n";

// One log that a trainer writes to, and what is shown of it.
class OneLog : public testing::Test {
 protected:
  OneLog() {
    std::string name = "/tmp/log_follower_testXXXXXX";
    trainer_.reset(mkostemp(name.data(), O_APPEND | O_CLOEXEC));
    if (!trainer_) throw std::runtime_error("mkostemp " + name);
    path_ = name;
  }
  ~OneLog() override { unlink(path_.c_str()); }

  void write(std::string_view bytes) const { ASSERT_TRUE(write_all(trainer_.get(), bytes)); }

  LogFollower follow() const {
    UniqueFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const off_t from = lseek(file.get(), 0, SEEK_END);
    std::vector<FollowedLog> logs;
    logs.push_back({.file = std::move(file), .from = from, .start_line = kStartLine});
    return LogFollower(std::move(logs));
  }

  LogFollower::Show show() {
    return [this](const ProcessName&, std::string_view bytes) { shown_ += bytes; };
  }

  std::string path_;
  UniqueFd trainer_;
  std::string shown_;
};

TEST_F(OneLog, IsShownFromThisRunOnWithoutOurOwnLine) {
  write("an earlier run\n");
  LogFollower follower = follow();
  write(kStartLine);
  write("step 1\n");
  EXPECT_TRUE(follower.copy_some(show()));
  EXPECT_FALSE(follower.copy_some(show()));
  write("step 2\n");
  EXPECT_TRUE(follower.copy_some(show()));
  EXPECT_EQ(shown_, "step 1\nstep 2\n");
}

TEST_F(OneLog, AnUnfinishedLineOfAnEarlierRunIsEndedBeforeOurs) {
  write("cut off");
  LogFollower follower = follow();
  write(std::string("\n") + kStartLine);
  write("step 1\n");
  follower.copy_to_the_end(show());
  EXPECT_EQ(shown_, "step 1\n");
}

TEST_F(OneLog, WhereOurLineCouldNotBeWrittenNothingIsLeftOut) {
  LogFollower follower = follow();
  write("a line that is longer than ours would have been\n");
  follower.copy_to_the_end(show());
  EXPECT_EQ(shown_, "a line that is longer than ours would have been\n");
}

TEST_F(OneLog, WhereOurLineCouldNotBeWrittenAWordIsShownAtTheEnd) {
  LogFollower follower = follow();
  write("ok\n");
  EXPECT_FALSE(follower.copy_some(show())) << "it might become our line";
  follower.copy_to_the_end(show());
  EXPECT_EQ(shown_, "ok\n");
}

TEST_F(OneLog, ThatWasEmptiedIsReadFromItsBeginning) {
  LogFollower follower = follow();
  write(kStartLine);
  write("before\n");
  EXPECT_TRUE(follower.copy_some(show()));
  ASSERT_EQ(ftruncate(trainer_.get(), 0), 0);
  EXPECT_FALSE(follower.copy_some(show()));
  write("after\n");
  EXPECT_TRUE(follower.copy_some(show()));
  EXPECT_EQ(shown_, "before\nafter\n");
}

TEST_F(OneLog, IsWatchedWhileItIsQuietAndWakesWhoWaits) {
  LogFollower follower = follow();
  write(kStartLine);
  write("step 1\n");
  for (int looks = 0; looks < 100 && follower.some_log_is_active(); ++looks) {
    follower.copy_some(show());
  }
  ASSERT_FALSE(follower.some_log_is_active());
  ASSERT_TRUE(follower.has_watched());
  pollfd waiting{follower.notifications(), POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0) << "nobody wakes for nothing";
  write("step 2\n");
  ASSERT_EQ(poll(&waiting, 1, 30'000), 1);
  follower.take_notifications();
  EXPECT_TRUE(follower.some_log_is_active());
  EXPECT_TRUE(follower.copy_some(show()));
  EXPECT_EQ(shown_, "step 1\nstep 2\n");
}

}  // namespace
}  // namespace paddle_launch
