// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include <gtest/gtest.h>

#include "launcher/os/child.h"

namespace paddle_launch {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

// In a process of its own, which may lose its descriptors.
bool keeps_the_right_ones(const std::function<void(std::vector<int>)>& close_others) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int first = dup(0);
    const int kept = dup(0);
    const int last = fcntl(0, F_DUPFD, 500);
    close_others({kept, -1, 1});
    _exit(is_open(0) && is_open(1) && is_open(2) && is_open(kept) && !is_open(first) &&
                  !is_open(last)
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status == 0;
}

TEST(CloseAllBut, KeepsTheGivenAndTheStandardDescriptors) {
  EXPECT_TRUE(keeps_the_right_ones(close_all_but));
}

TEST(CloseOneByOneBut, KeepsTheSameOnKernelsWithoutCloseRange) {
  EXPECT_TRUE(keeps_the_right_ones(close_one_by_one_but));
}

TEST(CloseOneByOneBut, WorksWhereNoDescriptorIsLeftToReadTheListWith) {
  EXPECT_TRUE(keeps_the_right_ones([](const std::vector<int>& kept) {
    const rlimit full{501, 501};
    setrlimit(RLIMIT_NOFILE, &full);
    while (dup(0) >= 0) {
    }
    close_one_by_one_but(kept);
  }));
}

}  // namespace
}  // namespace paddle_launch
