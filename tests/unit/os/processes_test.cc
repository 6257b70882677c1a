// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/processes.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

pid_t sleeping_child() {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  return pid;
}

TEST(Children, ListsThoseThatHaveNotBeenWaitedFor) {
  const pid_t pid = sleeping_child();
  const std::vector<pid_t> children = children_of_this_process();
  EXPECT_NE(std::find(children.begin(), children.end(), pid), children.end());
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

pid_t child_with(void (*disposition)(int)) {
  std::array<int, 2> ready{};
  EXPECT_EQ(pipe(ready.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGTERM, disposition);
    close(ready[1]);
    close(ready[0]);
    for (;;) pause();
  }
  close(ready[1]);
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 0);  // the child has closed its end
  close(ready[0]);
  return pid;
}

TEST(MayAnswer, IsTrueOfAChildThatCatchesOrIgnoresTheSignal) {
  const pid_t catches = child_with([](int) { _exit(1); });
  const pid_t ignores = child_with(SIG_IGN);
  const pid_t dies = child_with(SIG_DFL);
  EXPECT_TRUE(may_answer(catches, SIGTERM));
  EXPECT_TRUE(may_answer(ignores, SIGTERM));
  EXPECT_FALSE(may_answer(dies, SIGTERM));
  EXPECT_FALSE(may_answer(catches, SIGHUP));
  kill_children({}, std::chrono::seconds(30));
}

TEST(MayAnswer, IsFalseOfAChildThatIsDead) {
  const pid_t child = child_with([](int) { _exit(1); });
  kill(child, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(may_answer(child, SIGTERM));
  waitpid(child, nullptr, 0);
}

TEST(MayAnswer, IsTrueWhereTheKernelDoesNotTell) { EXPECT_TRUE(may_answer(1 << 30, SIGTERM)); }

TEST(KillChildren, LeavesNobodyButTheSparedOne) {
  const pid_t spared = sleeping_child();
  sleeping_child();
  sleeping_child();
  EXPECT_TRUE(kill_children({spared}, std::chrono::seconds(30)).empty());
  EXPECT_EQ(children_of_this_process(), std::vector<pid_t>{spared});
  EXPECT_TRUE(kill_children({}, std::chrono::seconds(30)).empty());
}

TEST(KillChildren, FindsADaemonThatHidInASessionOfItsOwn) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) {
      setsid();
      for (;;) pause();
    }
    _exit(0);
  }
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(kill_children({}, std::chrono::seconds(30)).empty());
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
}

}  // namespace
}  // namespace paddle_launch
