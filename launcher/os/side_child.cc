// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/side_child.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include <array>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include "launcher/os/check.h"
#include "launcher/os/close_all_but.h"
#include "launcher/os/forked_child.h"
#include "launcher/os/write_all.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

constexpr char kComplete = '\x06';  // the last byte of a complete answer
// The longest that a child which was killed may need to be gone; usually it is a fraction of one.
constexpr milliseconds kLastBreath{100};

[[noreturn]] void be_the_child(int answer, pid_t parent, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGCHLD, SIG_DFL);  // libraries that start programs of their own wait for them
  if (!keep_only(answer)) _exit(1);
  try {
    _exit(write_all(kOnlyDescriptor, work() + kComplete) ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

// Killed, and not gone in time.
std::vector<pid_t>& left_behind() {
  static std::vector<pid_t> children;
  return children;
}

}  // namespace

SideChild::SideChild(const std::function<std::string()>& work) {
  std::erase_if(left_behind(), [](pid_t child) { return is_gone(child); });
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC), "pipe2");
  answer_.reset(ends[0]);
  const UniqueFd writing(ends[1]);
  check(fcntl(ends[0], F_SETFL, O_NONBLOCK), "fcntl");
  pid_ = fork_with_signals_blocked(
      [&](pid_t launcher) { be_the_child(writing.get(), launcher, work); });
}

SideChild::SideChild(SideChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), answer_(std::move(other.answer_)) {}

SideChild::~SideChild() {
  if (pid_ < 0 || is_gone(pid_)) return;
  kill(pid_, SIGKILL);
  if (!is_gone_within(pid_, kLastBreath)) left_behind().push_back(pid_);
}

std::optional<std::string> completed(std::string_view said) {
  if (!said.ends_with(kComplete)) return std::nullopt;
  return std::string(said.substr(0, said.size() - 1));
}

}  // namespace paddle_launch
