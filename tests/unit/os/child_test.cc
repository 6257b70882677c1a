// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

int status_of(pid_t child) {
  int status = 0;
  EXPECT_TRUE(is_gone_within(child, seconds(30), &status));
  return status;
}

std::string name_of_this_process() {
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  return name.data();
}

TEST(ForkChild, NothingButSigkillEndsTheChild) {
  const int status = status_of(fork_child({}, [] {
    raise(SIGTERM);
    raise(SIGINT);
    _exit(7);
  }));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(ForkChild, WorkThatReturnsEndsWellAndWorkThatThrowsDoesNot) {
  EXPECT_EQ(WEXITSTATUS(status_of(fork_child({}, [] {}))), 0);
  EXPECT_EQ(WEXITSTATUS(status_of(fork_child({}, [] { throw 1; }))), 1);
}

TEST(ForkChild, TheLaunchersOwnMaskIsAsBeforeAndTheChildsWhereItIsAskedFor) {
  const auto blocks_sigterm = [] {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGTERM);
  };
  const pid_t child = fork_child({.blocks_signals = false}, [&] { _exit(blocks_sigterm()); });
  EXPECT_EQ(blocks_sigterm(), 0);
  EXPECT_EQ(status_of(child), 0);
}

TEST(ForkChild, TakesItsNameAndASessionOfItsOwn) {
  const int status = status_of(fork_child({.name = "pl-test", .own_session = true}, [] {
    _exit(name_of_this_process() == "pl-test" && getsid(0) == getpid() ? 0 : 1);
  }));
  EXPECT_EQ(status, 0);
}

TEST(ForkChild, DiesWithItsParent) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t parent = fork_child({.kept = {writing.get()}},
                                  [&] { fork_child({.kept = {writing.get()}}, sleep_for_ever); });
  writing.reset();
  EXPECT_EQ(status_of(parent), 0);
  char byte = 0;
  EXPECT_EQ(read(reading.get(), &byte, 1), 0) << "the grandchild holds the other end";
}

// What is open of 0, 1, 2 and another one: whether it is /dev/null, and whether 1 is 2.
int standard_descriptors(ChildRecipe::Descriptors descriptors, int other) {
  const auto is_null = [](int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
  };
  return WEXITSTATUS(status_of(fork_child({.descriptors = descriptors}, [&] {
    _exit((is_null(0) ? 1 : 0) | (is_null(1) ? 2 : 0) | (is_null(2) ? 4 : 0) |
          (fcntl(other, F_GETFD) >= 0 ? 8 : 0));
  })));
}

TEST(ForkChild, HasTheDescriptorsOfItsRecipe) {
  using Descriptors = ChildRecipe::Descriptors;
  const UniqueFd pipe_like(memfd_create("stdio", 0));
  const UniqueFd before[] = {UniqueFd(dup(0)), UniqueFd(dup(1)), UniqueFd(dup(2))};
  for (int fd = 0; fd < 3; ++fd) dup2(pipe_like.get(), fd);
  const int all = standard_descriptors(Descriptors::All, pipe_like.get());
  const int standard = standard_descriptors(Descriptors::Standard, pipe_like.get());
  const int errors = standard_descriptors(Descriptors::Errors, pipe_like.get());
  const int none = standard_descriptors(Descriptors::None, pipe_like.get());
  for (int fd = 0; fd < 3; ++fd) dup2(before[fd].get(), fd);
  EXPECT_EQ(all, 8);
  EXPECT_EQ(standard, 0);
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(none, 1 | 2 | 4);
}

TEST(StartChild, TalksToTheLauncherAboveTheStandardDescriptors) {
  Child child = start_child({}, [](FramePipe launcher) {
    if (launcher.fd() < 3) _exit(1);
    launcher.push(launcher.wait().value_or("nothing") + " too");
    launcher.push_all();
  });
  child.pipe.push("this");
  EXPECT_EQ(child.pipe.wait(), "this too");
  EXPECT_EQ(child.pipe.wait(), std::nullopt);
  EXPECT_EQ(status_of(child.pid), 0);
}

TEST(IsGone, WaitsForNobody) {
  const pid_t child = fork_child({}, sleep_for_ever);
  EXPECT_FALSE(is_gone(child));
  EXPECT_FALSE(is_gone_within(child, milliseconds(5)));
  kill(child, SIGKILL);
  EXPECT_TRUE(is_gone_within(child, seconds(30)));
}

// Its number may be a stranger's by now, who would be killed in its place.
TEST(IsGone, IsTrueOfAChildThatSomebodyElseReaped) {
  const pid_t child = fork_child({}, [] {});
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_gone(child));
}

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
