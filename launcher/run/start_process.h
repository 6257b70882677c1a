// SPDX-License-Identifier: Apache-2.0
// Starts one process. A program in the cheap way: the child shares our memory until it has executed
// it, so the cost does not grow with the launcher and a failure comes back without a pipe. A
// function of our own in a fork.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "launcher/job/start_method.h"
#include "launcher/os/signals.h"

namespace paddle_launch {

struct StartRequest {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* env = nullptr;
  int stdin_fd = -1;
  int output_fd = -1;
  int error_fd = -1;  // the same one where both go into a log
  const cpu_set_t* cpus = nullptr;
  std::size_t cpus_size = 0;
  Inherited inherited{};
  bool take_terminal = false;  // its group becomes the terminal's foreground group
};

// The CPUs of a process, as the kernel takes them; none where there are none.
class CpuMask {
 public:
  explicit CpuMask(const std::vector<int>& cpus);
  const cpu_set_t* get() const { return bits_.empty() ? nullptr : bits_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::vector<cpu_set_t> bits_;
  std::size_t size_ = 0;
};

// argv or an environment, as the kernel takes it. Points into both.
std::vector<char*> pointers(const std::vector<std::string>& shared,
                            const std::vector<std::string>& own);

struct StartResult {
  pid_t pid = -1;
  int error = 0;      // errno; 0: started
  bool exec = false;  // the error came from executing the program, not from making the process
};

// The child leads its own process group, dies with the calling thread, and has only 0, 1 and 2
// open.
StartResult start_process(const StartRequest& request);

// The same for a function, which also has the descriptors that are kept for it. All signals must be
// blocked. `program` and `argv` are not used.
StartResult start_function(const StartRequest& request, const OwnFunction& function,
                           const std::function<int()>& call);

}  // namespace paddle_launch
