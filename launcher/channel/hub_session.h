// SPDX-License-Identifier: Apache-2.0
// The first pod's end of the job channel: hears every reason to stop, passes the first one on, and
// makes the verdict when all pods have ended.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/channel/judge.h"
#include "launcher/channel/session.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

class HubSession final : public Session {
 public:
  // `members`: the place of each member in the roster. The hub may have lost one of them already.
  // `spares`: who is connected to an elastic job and has no place in this round.
  HubSession(std::unique_ptr<Hub> hub, const Roster& roster, std::map<int, int> members,
             std::map<int, OfferMessage> spares = {});

  void attend(RoundEvents& who, const RoundTerms& terms) override;
  void tell_stop(const StopCause& own) override;
  void tell_kill() override;
  void work_is_done() override;
  void tell_ending(const PodEnding& mine) override;
  void decide_now() override;
  void tell(const Message& message) override;
  void close() override;
  Connections release() override;
  bool is_hub() const override { return true; }
  bool has_endings() const override { return awaited_.size() < accounts_.size(); }
  std::vector<OfferMessage> newcomers() const override;
  std::optional<ClockDifference> wall_clock_of(int node) const override;

 private:
  void take(int member, Message message);
  void take_stop(int member, int node, StopCause cause);
  void take_ending(int member, int node, PodEnding ending);
  void take_newcomer(int member, const Message& message);
  void lose(int member, const std::string& why);
  void tell_of_absence(int member, const std::string* why);  // null: it is over
  void stop_all(const StopCause& cause, int but_node);
  void decide_when_complete();
  void send_verdict(const JobVerdict& verdict);
  PodAccount& account(int node) { return accounts_.at(static_cast<std::size_t>(node)); }

  std::unique_ptr<Hub> hub_;
  int mine_;
  std::map<int, int> members_;                         // member of the hub → place in the roster
  std::map<int, OfferMessage> spares_;                 // newcomers among them
  std::vector<std::pair<int, Message>> early_;         // until somebody listens
  std::vector<std::pair<int, Message>> for_the_next_;  // round, after the verdict
  std::vector<PodAccount> accounts_;
  std::vector<std::string> names_;  // of the pods
  std::vector<std::string> lost_;   // of these
  std::set<int> awaited_;           // the places that have neither ended nor gone
  bool stopping_ = false;
  bool done_ = false;  // all workers have ended well
  bool decided_ = false;
};

// "node 10.0.0.3 was lost: …", for exit status 75.
StopCause pod_lost(int node, const std::string& host, const std::string& why);
// The remark when that is no reason to stop any more.
std::string lost_after_work(const std::string& host);

}  // namespace paddle_launch
