// SPDX-License-Identifier: Apache-2.0
// The ids of one round, on the first pod, and the process that holds libnccl for them. It opens the
// library at once, so that the time this takes passes while the pods meet; makes ids when the size
// of the world is known; and stays until the round ends, since the ranks check in with threads that
// NCCL runs in it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/job/start_method.h"
#include "launcher/nccl/libnccl.h"
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

class NcclIdMaker {
 public:
  // `program`: of the trainers, whose packages may hold their own NCCL.
  NcclIdMaker(const JobSpec& job, const Environment& env, const Program& program);

  // Loading libnccl takes a while, so a pod that will probably be asked begins early.
  void prepare();
  // `interface_name`: where the ranks check in; empty: NCCL's own choice. No ids where NCCL is not
  // there: the trainers then make them themselves, as always. Throws UsageError where the user
  // named a library that makes none.
  NcclIds make(int count, const std::string& interface_name);
  // The round is over, and its ids have served.
  void end_round();

 private:
  const JobSpec& job_;
  const Environment& env_;
  const Program& program_;
  std::optional<NcclKeeper> keeper_;
  std::string problem_;  // why there are no ids
};

}  // namespace paddle_launch
