// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/side_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

TEST(RunAside, GivesBackWhatTheWorkReturned) {
  EXPECT_EQ(run_aside(seconds(10), [] { return std::string("four cards"); }), "four cards");
  EXPECT_EQ(run_aside(seconds(10), [] { return std::string(); }), "");
  EXPECT_FALSE(has_children());
}

TEST(RunAside, AnswersLargerThanAPipeArriveWhole) {
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(run_aside(seconds(10), [&large] { return std::string(large); }), large);
}

TEST(RunAside, AnExceptionACrashAndAnEarlyExitAreNoAnswer) {
  EXPECT_EQ(run_aside(seconds(10), []() -> std::string { throw std::runtime_error("no"); }),
            std::nullopt);
  EXPECT_EQ(run_aside(seconds(10),
                      []() -> std::string {
                        kill(getpid(), SIGKILL);
                        return "";
                      }),
            std::nullopt);
  EXPECT_EQ(run_aside(seconds(10), []() -> std::string { _exit(0); }), std::nullopt);
  EXPECT_FALSE(has_children());
}

TEST(RunAside, WorkThatHangsIsKilledAtTheDeadline) {
  const auto before = steady_clock::now();
  const auto answer = run_aside(milliseconds(50), []() -> std::string {
    for (;;) pause();
  });
  EXPECT_EQ(answer, std::nullopt);
  EXPECT_LT(steady_clock::now() - before, seconds(5));
  EXPECT_FALSE(has_children());
}

TEST(RunAside, WorksWithSigchldBlockedOrIgnoredAndUnderASubreaper) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  sigprocmask(SIG_BLOCK, &chld, nullptr);
  EXPECT_EQ(run_aside(seconds(10), [] { return std::string("blocked"); }), "blocked");
  sigprocmask(SIG_UNBLOCK, &chld, nullptr);
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_aside(seconds(10), [] { return std::string("ignored"); }), "ignored");
  signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(RunAside, LeavesOtherChildrenToTheirOwner) {
  const pid_t other = fork();
  if (other == 0) _exit(7);
  EXPECT_EQ(run_aside(seconds(10), [] { return std::string("mine"); }), "mine");
  int status = 0;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(RunAside, TheChildHoldsNoDescriptorOfTheLauncher) {
  const int inherited = fcntl(0, F_DUPFD, 100);
  ASSERT_GE(inherited, 100);
  const auto answer = run_aside(seconds(10), [inherited] {
    const bool closed = fcntl(inherited, F_GETFD) < 0;
    return std::string(closed && write(1, "lost", 4) == 4 ? "clean" : "dirty");
  });
  EXPECT_EQ(answer, "clean");
  close(inherited);
}

TEST(RunAside, TheCallersSignalMaskIsAsBefore) {
  sigset_t before;
  sigset_t after;
  sigprocmask(SIG_SETMASK, nullptr, &before);
  run_aside(seconds(10), [] { return std::string(); });
  sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < NSIG; ++number) {
    EXPECT_EQ(sigismember(&before, number), sigismember(&after, number)) << number;
  }
}

}  // namespace
}  // namespace paddle_launch
