// SPDX-License-Identifier: Apache-2.0
// How the pods of an elastic job meet, round after round. etcd says who there is; whoever has been
// there longest gathers the others over TCP, exactly as in a job without etcd. Nothing of a running
// round depends on etcd.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "launcher/channel/connections.h"
#include "launcher/channel/dialer.h"
#include "launcher/channel/session.h"
#include "launcher/os/idle_listener.h"
#include "launcher/rendezvous/gathering.h"
#include "launcher/rendezvous/job_register.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

struct ElasticSettings {
  RegisterSettings job{};
  ChannelIdentity identity{};             // its secret counts where job.has_token
  std::string host{};                     // this pod's address; empty: the one that reaches etcd
  std::chrono::milliseconds patience{0};  // with nodes that are booked and do not come
  int first_port = 0;  // where others may look for this pod; when it is taken, the next ones
  std::function<void(const WaitingFacts&)> waiting{};
  std::function<void(const std::string&)> remark{};
};

class Elastic {
 public:
  Elastic(EventLoop& loop, ElasticSettings settings);

  // Books this pod. Throws NodeMissing where etcd cannot be reached, UsageError.
  void open();
  const std::string& host() const { return host_; }

  // `before`: the number of nodes of the last round that this pod was in; 0: none.
  Met meet(Connections connections, JobTerms terms, PodOffer offer, const NextRound& next,
           int before, const PayloadMaker& payload);

  JobRegister& job() { return *register_; }

 private:
  std::string address_towards_etcd() const;
  void listen_idly();
  void throw_if_stopped() const;
  Connections find_hub();
  std::unique_ptr<Link> dial(const BookedPod& hub);
  void take_dial_failure(const BookedPod& hub, const DialFailure& failure);
  std::optional<Met> gather(Connections connections, OfferMessage mine, const NextRound& next,
                            int before, const PayloadMaker& payload);
  std::optional<Met> join(Connections connections, OfferMessage mine);
  ElasticRule rule(int before, bool has_settled, RoundState round);
  GatheringSettings gathering_settings(const RoundState& round, ElasticRule rule);
  bool is_held_up() const { return !register_->problem().empty(); }
  std::string too_few(const WaitingFacts& facts) const;

  EventLoop& loop_;
  ElasticSettings settings_;
  std::string host_;
  std::unique_ptr<IdleListener> listener_;  // while another pod is the hub
  std::unique_ptr<JobRegister> register_;
  std::string dial_problem_;  // of the last try to reach the hub
  std::string lost_hub_;      // the name of a pod that was ours and cannot be reached any more
  EventLoop::Clock::time_point began_{};
};

// "the job was stopped by --stop from n1".
std::string stopped_text(const JobBook& book);

}  // namespace paddle_launch
