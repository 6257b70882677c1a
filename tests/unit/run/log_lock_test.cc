// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include <gtest/gtest.h>

#include "launcher/run/log_directory.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

// Another process that has the log.
class OtherGuard {
 public:
  OtherGuard(const std::string& path, milliseconds grace) {
    std::array<int, 2> ready{};
    if (pipe(ready.data()) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      const UniqueFd log = open_log(path);
      const char result = try_lock(log.get(), grace) == LockTry::Ours ? 'y' : 'n';
      if (write(ready[1], &result, 1) == 1) pause();
      _exit(0);
    }
    char result = 'n';
    has_it_ = read(ready[0], &result, 1) == 1 && result == 'y';
    close(ready[0]);
    close(ready[1]);
  }
  OtherGuard(const OtherGuard&) = delete;
  OtherGuard& operator=(const OtherGuard&) = delete;
  ~OtherGuard() { end(); }

  bool has_it() const { return has_it_; }
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool has_it_ = false;
};

class LogLock : public testing::Test {
 protected:
  TempFolder temp_;
  std::string path_ = temp_.path() / "log";
  UniqueFd log_ = open_log(path_);
};

TEST_F(LogLock, IsFreeWhereNobodyHasIt) {
  EXPECT_FALSE(holder_of(log_.get()));
  EXPECT_EQ(try_lock(log_.get(), milliseconds(100)), LockTry::Ours);
}

TEST_F(LogLock, OfARunningJobNamesItsLauncherAndItsGrace) {
  const OtherGuard other(path_, milliseconds(4321));
  ASSERT_TRUE(other.has_it());
  EXPECT_EQ(try_lock(log_.get(), milliseconds(100)), LockTry::Taken);
  const auto holder = holder_of(log_.get());
  ASSERT_TRUE(holder);
  // This test is its parent, and has the same command.
  EXPECT_EQ(holder->text.find("pid " + std::to_string(getpid()) + " ("), 0U) << holder->text;
  EXPECT_NE(holder->text.find("run_test"), std::string::npos) << holder->text;
  EXPECT_NE(holder->text.find(", since 20"), std::string::npos) << holder->text;
  EXPECT_EQ(holder->grace, milliseconds(4321));
  EXPECT_FALSE(holder->may_let_go);
}

TEST_F(LogLock, IsGoneWithItsGuard) {
  OtherGuard other(path_, milliseconds(0));
  ASSERT_TRUE(other.has_it());
  other.end();
  EXPECT_FALSE(holder_of(log_.get()));
  EXPECT_EQ(try_lock(log_.get(), milliseconds(0)), LockTry::Ours);
}

TEST_F(LogLock, IsNotHeldByWhatAGuardStarted) {
  ASSERT_EQ(try_lock(log_.get(), milliseconds(0)), LockTry::Ours);
  const pid_t trainer = fork();
  if (trainer == 0) {
    const bool is_taken = try_lock(log_.get(), milliseconds(0)) == LockTry::Taken;
    _exit(is_taken ? 0 : 1);
  }
  int status = -1;
  waitpid(trainer, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace paddle_launch
