// SPDX-License-Identifier: Apache-2.0
// Work that may hang (a driver, a name server, a dead file system) is done in a short-lived child,
// so that the launcher never hangs with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launcher/os/frames.h"

namespace paddle_launch {

// A short-lived child that does one piece of work which may hang. It has no descriptor of the
// launcher's (0, 1, 2 are /dev/null), so that a stuck one holds neither the user's pipe nor a port.
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

  // Readable when the work is done, or the child is gone.
  int fd() const { return child_.fd(); }
  // Waits for what `work` returned; none when it threw or crashed, or at the deadline. An exit
  // status would not do: where SIGCHLD is ignored the kernel throws it away.
  std::optional<std::string> answer(FramePipe::Clock::time_point until);

 private:
  pid_t pid_ = -1;
  FramePipe child_;
};

// For work on files: a file system that takes longer is taken for dead.
constexpr std::chrono::seconds kPatienceWithDisk{5};

// What `work` returned in a SideChild; none as well when no child could be made. `work` opens what
// it needs by itself.
std::optional<std::string> run_aside(std::chrono::milliseconds deadline,
                                     const std::function<std::string()>& work);

}  // namespace paddle_launch
