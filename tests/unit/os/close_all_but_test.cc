// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/close_all_but.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

TEST(CloseAllBut, KeepsTheGivenAndTheStandardDescriptors) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int first = dup(0);
    const int kept = dup(0);
    const int last = dup(0);
    close_all_but({kept, -1, 1});
    _exit(is_open(0) && is_open(1) && is_open(2) && is_open(kept) && !is_open(first) &&
                  !is_open(last)
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace paddle_launch
