// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/children.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
