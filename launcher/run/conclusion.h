// SPDX-License-Identifier: Apache-2.0
// The time between the end of this pod's last process and the verdict over the whole job. The user
// may still interrupt: whoever has finished early is a part of the job until its end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "launcher/channel/session.h"
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
  Conclusion(EventLoop& loop, SignalWatch& signals, Session& session, const Terminal& terminal,
             std::chrono::milliseconds patience, ConclusionNews news);
  Conclusion(const Conclusion&) = delete;
  Conclusion& operator=(const Conclusion&) = delete;
  ~Conclusion();

  // Until there is a verdict, which whoever attends the session writes down. `stopping`: a reason
  // to stop is known.
  void wait(const PodEnding& mine, bool stopping, const std::optional<JobVerdict>& verdict);
  // Another pod's reason.
  void on_stop(const StopCause& cause);

 private:
  void take_signals();
  void take(int signal);
  void begin_patience();

  EventLoop& loop_;
  SignalWatch& signals_;
  Session& session_;
  const Terminal& terminal_;
  std::chrono::milliseconds patience_;
  ConclusionNews news_;
  StopPolicy interrupts_{0};
  Alarm deadline_;
  Alarm slow_;
  bool killed_ = false;
};

}  // namespace paddle_launch
