// SPDX-License-Identifier: Apache-2.0
// What the hub of an elastic job minds while a round runs, as the job's book in etcd says it: nodes
// that come, --scale and --stop.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "launcher/channel/session.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/job_register.h"

namespace paddle_launch {

class ElasticWatch final : public RoundWatch {
 public:
  ElasticWatch(EventLoop& loop, JobRegister& job, std::chrono::milliseconds settle,
               OfferMessage mine);

  pid_t keeper() const override { return job_.keeper(); }
  std::optional<RefusalMessage> on_newcomer(const OfferMessage& offer) override;
  void begin(const Session& session, int nodes, Listener& listener) override;
  void work_ends() override { is_working_ = false; }
  void end() override;

 private:
  // Nothing is begun anew once a part of the work is done.
  bool may_change() const { return is_working_ && !session_->has_endings(); }
  void look();
  void grow();
  void stop(StopCause::Kind kind, int status, std::string text);

  JobRegister& job_;
  std::chrono::milliseconds settle_;
  OfferMessage mine_;
  const Session* session_ = nullptr;
  int nodes_ = 0;
  bool is_working_ = false;
  Listener* listener_ = nullptr;  // until it has heard a reason to stop
  Alarm settling_;
};

}  // namespace paddle_launch
