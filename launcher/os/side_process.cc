// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/side_process.h"

#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include "launcher/os/child.h"

namespace paddle_launch {
namespace {

// The longest that a child which was killed may need to be gone; usually it is a fraction of one.
constexpr std::chrono::milliseconds kLastBreath{100};

// Killed, and not gone in time.
std::vector<pid_t>& left_behind() {
  static std::vector<pid_t> children;
  return children;
}

}  // namespace

SideChild::SideChild(const std::function<std::string()>& work) {
  std::erase_if(left_behind(), [](pid_t child) { return is_gone(child); });
  Child child = start_child({}, [&work](FramePipe launcher) {
    launcher.push(work());
    launcher.push_all();
  });
  pid_ = child.pid;
  child_ = std::move(child.pipe);
}

SideChild::SideChild(SideChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), child_(std::move(other.child_)) {}

SideChild::~SideChild() {
  if (pid_ < 0 || is_gone(pid_)) return;
  kill(pid_, SIGKILL);
  if (!is_gone_within(pid_, kLastBreath)) left_behind().push_back(pid_);
}

std::optional<std::string> SideChild::answer(FramePipe::Clock::time_point until) {
  return child_.wait(until);
}

std::optional<std::string> run_aside(std::chrono::milliseconds deadline,
                                     const std::function<std::string()>& work) {
  const auto until = FramePipe::Clock::now() + deadline;
  try {
    return SideChild(work).answer(until);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace paddle_launch
