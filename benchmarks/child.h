// SPDX-License-Identifier: Apache-2.0
// One launcher under measurement: a process in its own group, watched by a pidfd, bounded in time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

using Clock = std::chrono::steady_clock;
using Argv = std::vector<std::string>;

struct Ending {
  int status = 0;  // as from waitpid
  Clock::time_point when;
};

// Ctrl-C: every wait ends with this, so that scratch directories and processes are cleared.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};
void catch_interrupts();
void throw_if_interrupted();

class Child {
 public:
  // Runs in `directory`; stderr goes to the file `stderr` there, and stdout to the file `stdout`
  // unless `output` names a descriptor.
  Child(const Argv& argv, const std::filesystem::path& directory, int output = -1);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  Clock::time_point started() const { return started_; }

  // Nothing when the deadline comes first.
  std::optional<Ending> wait_until(Clock::time_point deadline);
  Ending reap();
  void kill_group(int signal) const;

 private:
  Clock::time_point started_;
  pid_t pid_ = 0;
  UniqueFd pidfd_;
  bool reaped_ = false;
};

UniqueFd open_pidfd(pid_t pid);
// Milliseconds for poll(), at least 0.
int poll_timeout(Clock::time_point deadline);
double seconds_between(Clock::time_point from, Clock::time_point to);

// "exit status 2: <its last words>"
std::string describe_ending(int status, const std::filesystem::path& directory);

}  // namespace paddle_launch
