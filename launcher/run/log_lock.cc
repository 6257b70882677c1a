// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/log_lock.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>

#include "launcher/os/other_process.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestGrace{std::chrono::hours(24 * 365)};

std::string since(std::time_t moment) {
  std::tm local{};
  localtime_r(&moment, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), size};
}

std::string describe(const OtherProcess& process) {
  return fmt::format("pid {} ({}), since {}", process.pid, process.command, since(process.since));
}

// A guard has the command of the launcher that forked it.
std::optional<OtherProcess> launcher_of(const OtherProcess& guard) {
  auto parent = look_at_process(guard.parent);
  if (!parent || parent->command != guard.command) return std::nullopt;
  return parent;
}

}  // namespace

// The first byte is the lock; its length tells the grace.
LockTry try_lock(int log, milliseconds grace) {
  struct flock wanted {};
  wanted.l_type = F_WRLCK;
  wanted.l_len = 1 + std::clamp(grace, milliseconds(0), kLongestGrace).count();
  int result = 0;
  do {
    result = fcntl(log, F_SETLK, &wanted);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return LockTry::Ours;
  return errno == EAGAIN || errno == EACCES ? LockTry::Taken : LockTry::NotSupported;
}

std::optional<LogHolder> holder_of(int log) {
  struct flock found {};
  found.l_type = F_WRLCK;
  found.l_len = 1;
  if (fcntl(log, F_GETLK, &found) != 0 || found.l_type == F_UNLCK) return std::nullopt;
  // A length of 0 reaches to the end: the lock of some other program.
  const milliseconds grace(std::max<off_t>(found.l_len - 1, 0));
  if (found.l_pid <= 0) {
    return LogHolder{"a process of another host or container", true, grace};
  }
  const auto guard = look_at_process(found.l_pid);
  if (!guard) return LogHolder{fmt::format("pid {}", found.l_pid), true, grace};
  const auto launcher = launcher_of(*guard);
  const bool is_stopping = !launcher || guard->name == kStoppingGuard;
  return LogHolder{describe(launcher ? *launcher : *guard), is_stopping, grace};
}

}  // namespace paddle_launch
