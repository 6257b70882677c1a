// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

#include "launcher/os/child.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

[[noreturn]] void sleep_for_ever(pid_t /*launcher*/) {
  for (;;) pause();
}

TEST(ForkWithSignalsBlocked, NothingButSigkillEndsTheChild) {
  const pid_t launcher = getpid();
  const pid_t child = fork_with_signals_blocked([launcher](pid_t told) {
    raise(SIGTERM);
    raise(SIGINT);
    _exit(told == launcher ? 7 : 1);
  });
  int status = 0;
  ASSERT_TRUE(is_gone_within(child, seconds(30), &status));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(ForkWithSignalsBlocked, TheLaunchersOwnMaskIsAsBefore) {
  sigset_t mask;
  const pid_t child = fork_with_signals_blocked([](pid_t) { _exit(0); });
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
  EXPECT_TRUE(is_gone_within(child, seconds(30)));
}

TEST(IsGone, WaitsForNobody) {
  const pid_t child = fork_with_signals_blocked(sleep_for_ever);
  EXPECT_FALSE(is_gone(child));
  EXPECT_FALSE(is_gone_within(child, milliseconds(5)));
  kill(child, SIGKILL);
  EXPECT_TRUE(is_gone_within(child, seconds(30)));
}

// Its number may be a stranger's by now, who would be killed in its place.
TEST(IsGone, IsTrueOfAChildThatSomebodyElseReaped) {
  const pid_t child = fork_with_signals_blocked([](pid_t) { _exit(0); });
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_gone(child));
}

}  // namespace
}  // namespace paddle_launch
