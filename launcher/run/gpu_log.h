// SPDX-License-Identifier: Apache-2.0
// --enable_gpu_log: what the cards of this pod do, every few seconds, in a file of its own. NVML
// may hang with its driver, so a process of its own asks it, and writes; launcher, guard and
// console never wake for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

struct GpuLogSettings {
  std::string library{};  // NVML
  std::string path{};
  std::string host{};
  std::vector<std::string> cards{};  // as NVML or the user calls them: numbers or UUIDs
};

// None to be written: there are no GPUs here, or nowhere to write, or nobody wants it.
bool wants_gpu_log(const GpuLogSettings& settings);
GpuLogSettings gpu_log_settings(const PodPlan& plan, const std::string& job_id,
                                const Environment& env);

// Writes as long as it lives. Throws std::system_error when no process could be made.
class GpuLog {
 public:
  explicit GpuLog(const GpuLogSettings& settings);
  GpuLog(const GpuLog&) = delete;
  GpuLog& operator=(const GpuLog&) = delete;
  // One that is stuck in the driver is left behind.
  ~GpuLog();

 private:
  pid_t pid_ = -1;
};

}  // namespace paddle_launch
