// SPDX-License-Identifier: Apache-2.0
// What the hub of an elastic job minds while a round runs: nodes that come, and orders from
// outside.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launcher/channel/job_channel.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/job_register.h"

namespace paddle_launch {

class ElasticWatch {
 public:
  ElasticWatch(EventLoop& loop, JobRegister& job, std::chrono::milliseconds settle,
               OfferMessage mine);

  // Lets in who fits, refuses who does not.
  std::optional<RefusalMessage> newcomer(const OfferMessage& offer);

  void begin(JobChannel& channel, int nodes, std::function<void(const StopCause&)> stop,
             const std::function<void(const std::string&)>& warn);
  // Processes of the job have done their work: nobody is let in any more.
  void work_ends() { is_working_ = false; }
  void end();

 private:
  // Nothing is begun anew once a part of the work is done.
  bool may_change() const { return is_working_ && !channel_->has_endings(); }
  void look();
  void grow();
  void stop(StopCause::Kind kind, int status, std::string text);

  JobRegister& job_;
  std::chrono::milliseconds settle_;
  OfferMessage mine_;
  JobChannel* channel_ = nullptr;
  int nodes_ = 0;
  bool is_working_ = false;
  std::function<void(const StopCause&)> stop_;
  Alarm settling_;
};

}  // namespace paddle_launch
