// SPDX-License-Identifier: Apache-2.0
// How the pods of an elastic job meet, round after round. etcd says who there is; whoever has been
// there longest gathers the others over TCP, exactly as in a job without etcd. Nothing of a running
// round depends on etcd.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/dialer.h"
#include "launcher/channel/hub_session.h"
#include "launcher/channel/member_session.h"
#include "launcher/os/idle_listener.h"
#include "launcher/rendezvous/elastic_watch.h"
#include "launcher/rendezvous/gathering.h"
#include "launcher/rendezvous/job_register.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/site/launch_values.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class Elastic final : public Rendezvous, private ElasticRule {
 public:
  Elastic(const Launch& launch, Narrator& narrator);
  // As leave(false).
  ~Elastic() override;

  // The first one books this pod: throws NodeMissing where etcd cannot be reached, UsageError.
  Gathered gather(const Brought& brought) override;
  Session& session() override { return *session_; }
  RoundWatch* watch() override { return &*watch_; }
  bool others_may_come() const override { return true; }
  // They go on without this pod.
  void call_off(int /*status*/, const std::string& /*why*/) override {}
  // Nothing of this pod stays in etcd. `job_is_over`: nor of any other.
  void leave(bool job_is_over) override;

 private:
  NodeRange nodes() const override { return register_->nodes(); }
  int expected(const std::set<std::string>& here) const override;
  void on_lost(const std::string& name) override { register_->expel(name); }
  void commit(const Roster& roster, bool as_before, std::function<void(bool)> answered) override;
  bool is_held_up() const override { return !register_->problem().empty(); }
  void on_waiting() override { register_->note_waiting(); }
  std::string too_few(const WaitingFacts& facts) const override;

  void open(const Offer& offer, std::vector<std::string>& notices);
  std::string address_towards_etcd() const;
  void listen_idly();
  void throw_if_stopped() const;
  bool is_connected() const;
  void find_hub();
  void be_hub();
  std::unique_ptr<Link> dial(const BookedPod& hub);
  void take_dial_failure(const BookedPod& hub, const DialFailure& failure);
  std::optional<Gathered> gather_others(OfferMessage mine, const Brought& brought);
  std::optional<Gathered> join(OfferMessage mine);
  void drop_session();
  std::chrono::milliseconds timeout() const { return launch_.job.elastic->timeout; }

  const Launch& launch_;
  Narrator& narrator_;
  ChannelIdentity identity_;
  std::string host_;                        // this pod's address
  std::unique_ptr<IdleListener> listener_;  // while another pod is the hub
  std::unique_ptr<JobRegister> register_;   // once this pod is booked
  std::unique_ptr<Session> session_;
  HubSession* hub_session_ = nullptr;  // one of both is the session
  MemberSession* member_session_ = nullptr;
  std::optional<ElasticWatch> watch_;
  std::optional<Roster> last_;  // of the last round that this pod was in
  RoundState round_;            // that is gathered for
  std::string dial_problem_;    // of the last try to reach the hub
  std::string lost_hub_;        // the name of a pod that was ours and cannot be reached any more
  EventLoop::Clock::time_point began_{};
};

// "the job was stopped by --stop from n1".
std::string stopped_text(const JobBook& book);

}  // namespace paddle_launch
