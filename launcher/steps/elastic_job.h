// SPDX-License-Identifier: Apache-2.0
// This launcher's part in an elastic job: where its nodes meet, round after round, and what it
// minds while one runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/round_watch.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/elastic.h"
#include "launcher/rendezvous/elastic_watch.h"
#include "launcher/run/announcer.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/steps/next_meeting.h"

namespace paddle_launch {

class ElasticJob {
 public:
  // Finds etcd and books this node. Adds a notice where the channel is not protected. Throws
  // NodeMissing, UsageError.
  ElasticJob(EventLoop& loop, const JobSpec& job, const Environment& env, const Machine& here,
             const OwnNode& me, std::vector<std::string>& notices);
  ElasticJob(const ElasticJob&) = delete;
  ElasticJob& operator=(const ElasticJob&) = delete;
  // As leave(false).
  ~ElasticJob();

  // `between` is empty before the first round.
  Met meet(BetweenRounds between, JobTerms terms, const PodOffer& offer,
           const PayloadMaker& payload);
  // After a meeting: of the round that begins then.
  RoundWatch* watch() { return &*watch_; }
  // Nothing of this node stays in etcd. `job_is_over`: nor of any other.
  void leave(bool job_is_over);

 private:
  // Where the words of a meeting go, until it ends, also by an exception.
  class Announced {
   public:
    Announced(ElasticJob& job, Announcer& announcer);
    Announced(const Announced&) = delete;
    Announced& operator=(const Announced&) = delete;
    ~Announced();

   private:
    ElasticJob& job_;
  };

  EventLoop& loop_;
  const JobSpec& job_;
  Announcer* announcer_ = nullptr;  // while nodes are waited for
  std::unique_ptr<Elastic> elastic_;
  std::optional<ElasticWatch> watch_;
};

}  // namespace paddle_launch
