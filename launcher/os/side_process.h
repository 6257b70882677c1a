// SPDX-License-Identifier: Apache-2.0
// Work that may hang (a driver, a name server, a dead file system) is done in a short-lived child,
// so that the launcher never hangs with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

// A short-lived child that does one piece of work which may hang. It has no descriptor of the
// launcher's (0, 1, 2 are /dev/null), so that a stuck one holds neither the user's pipe nor a port;
// all signals are blocked in it, and it does not outlive the launcher.
class SideChild {
 public:
  // Throws std::system_error when no child could be made.
  explicit SideChild(const std::function<std::string()>& work);
  SideChild(SideChild&& other) noexcept;
  SideChild& operator=(SideChild&&) = delete;
  SideChild(const SideChild&) = delete;
  SideChild& operator=(const SideChild&) = delete;
  // Kills what is still there. A child stuck in the kernel is left behind and reaped by one of the
  // next ones: never a blocking wait, since a process in exit can hang in a driver as well.
  ~SideChild();

  // What the child says, non-blocking: readable when the work is done, then at its end.
  int fd() const { return answer_.get(); }

 private:
  pid_t pid_ = -1;
  UniqueFd answer_;
};

// What `work` returned, out of everything the child said; none when it threw or crashed. An exit
// status would not do: where SIGCHLD is ignored the kernel throws it away.
std::optional<std::string> completed(std::string_view said);

// For work on files: a file system that takes longer is taken for dead.
constexpr std::chrono::seconds kPatienceWithDisk{5};

// What `work` returned; none when it threw, crashed, was not done at the deadline, or when no child
// could be made. The child has no descriptor of the launcher's (0, 1, 2 are /dev/null), so a stuck
// one holds neither the user's pipe nor a port: `work` opens what it needs. All signals are blocked
// in it. A child stuck in the kernel is killed and left behind, never waited for.
std::optional<std::string> run_aside(std::chrono::milliseconds deadline,
                                     const std::function<std::string()>& work);

}  // namespace paddle_launch
