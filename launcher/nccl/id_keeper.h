// SPDX-License-Identifier: Apache-2.0
// The process that holds libnccl for one round. It opens the library at once, so that the time this
// takes passes while the pods meet; makes ids when the size of the world is known; and stays until
// the round ends, since the ranks check in with threads that NCCL runs in it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "launcher/job/nccl_ids.h"
#include "launcher/nccl/find_nccl.h"
#include "launcher/os/frames.h"

namespace paddle_launch {

class NcclKeeper {
 public:
  // Throws std::system_error when no process could be made.
  explicit NcclKeeper(const NcclSearch& search);
  NcclKeeper(const NcclKeeper&) = delete;
  NcclKeeper& operator=(const NcclKeeper&) = delete;
  // Ends the process: from now on nobody can check in. One stuck in the kernel is left behind.
  ~NcclKeeper();

  // Once. The interface is where the ranks will check in, unless the user or a configuration file
  // of NCCL names one; empty: NCCL's own choice.
  void ask(int count, const std::string& interface_name);

  // Waits for ids or a problem. At the deadline silence becomes the problem.
  const std::optional<NcclIds>& wait(std::chrono::milliseconds deadline);

  const std::optional<NcclIds>& ids() const { return ids_; }
  // Why there are none and will be none; empty: not known yet, or there are ids.
  const std::string& problem() const { return problem_; }

  pid_t pid() const { return pid_; }

 private:
  void take(const std::string& packet);
  void explain_the_end();
  void end();

  pid_t pid_ = -1;
  FramePipe keeper_;
  std::optional<NcclIds> ids_;
  std::string problem_;
  std::string step_ = "starting";
};

}  // namespace paddle_launch
