// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/side_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/os/clock.h"
#include "launcher/os/files.h"

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

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::optional<std::string> read_to_end(int fd, steady_clock::time_point until) {
  std::string answer;
  std::array<char, 65536> chunk;
  for (;;) {
    if (steady_clock::now() >= until) return std::nullopt;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, milliseconds_until(until));
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got == 0) return answer;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return std::nullopt;
    if (got > 0) answer.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<std::string> run_aside(milliseconds deadline,
                                     const std::function<std::string()>& work) {
  const auto until = steady_clock::now() + deadline;
  try {
    const SideChild child(work);
    const auto said = read_to_end(child.fd(), until);
    return said ? completed(*said) : std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace paddle_launch
