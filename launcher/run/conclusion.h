// SPDX-License-Identifier: Apache-2.0
// The time between the end of this pod's last process and the verdict over the whole job. The user
// may still interrupt: whoever has finished early is a part of the job until its end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "launcher/channel/job_channel.h"
#include "launcher/job/ending.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"
#include "launcher/run/stop_policy.h"
#include "launcher/run/terminal.h"

namespace paddle_launch {

struct ConclusionNews {
  std::function<void(const StopCause&)> stop;      // another pod's reason
  std::function<StopCause(int signal)> interrupt;  // makes the reason of a user who interrupts
  std::function<void()> waiting;                   // the others take their time
};

class Conclusion {
 public:
  // `patience`: how long the others may take once the job is being stopped.
  Conclusion(EventLoop& loop, SignalWatch& signals, JobChannel& channel, const Terminal& terminal,
             std::chrono::milliseconds patience, ConclusionNews news);
  Conclusion(const Conclusion&) = delete;
  Conclusion& operator=(const Conclusion&) = delete;
  ~Conclusion();

  // The job's remarks still go where they went before, as does what is none of our business
  // (`other`). `stopping`: a reason to stop is known.
  JobVerdict wait(const PodEnding& mine, bool stopping,
                  const std::function<void(const std::string&)>& remark,
                  const std::function<void(int node, const Message&)>& other = {});

 private:
  void take_signals();
  void take(int signal);
  void begin_patience();

  EventLoop& loop_;
  SignalWatch& signals_;
  JobChannel& channel_;
  const Terminal& terminal_;
  std::chrono::milliseconds patience_;
  ConclusionNews news_;
  StopPolicy interrupts_{0};
  Alarm deadline_;
  Alarm slow_;
  std::optional<JobVerdict> verdict_;
  bool killed_ = false;
};

}  // namespace paddle_launch
