// SPDX-License-Identifier: Apache-2.0
// The session of the first pod, to which all others are connected: hears every reason to stop,
// passes the first one on, and makes the verdict when all pods have ended.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/channel/judge.h"
#include "launcher/channel/session.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

class HubSession final : public Session, private Hub::Listener {
 public:
  explicit HubSession(std::unique_ptr<Hub> hub) : hub_(std::move(hub)) {}

  // For whoever gathers the pods of a round.
  Hub& hub() { return *hub_; }
  // A round begins. `members`: the place of each member in its roster; the hub may have lost one of
  // them already. `spares`: who is connected and has no place in this round.
  void begin(const Roster& roster, std::map<int, int> members,
             std::map<int, OfferMessage> spares = {});
  // Of the last round: the places of those who may be in the next one, the names of all its pods,
  // and of those that were lost in it.
  const std::map<int, int>& members() const { return round_.members; }
  const std::vector<std::string>& names() const { return round_.names; }
  const std::vector<std::string>& lost() const { return round_.lost; }
  std::map<int, OfferMessage> take_spares();

  void attend(RoundEvents& who, const RoundTerms& terms) override;
  void tell_stop(const StopCause& own) override;
  void tell_kill() override;
  void work_is_done() override;
  void tell_ending(const PodEnding& mine) override;
  void decide_now() override;
  void tell(const Message& message) override;
  void close() override;
  bool is_called_off(bool others_may_come) const override;
  void call_off(int status, const std::string& why) override;
  bool is_hub() const override { return true; }
  bool has_endings() const override { return round_.awaited.size() < round_.accounts.size(); }
  std::vector<OfferMessage> newcomers() const override;
  std::optional<ClockDifference> wall_clock_of(int node) const override;

 private:
  void on_message(int member, const Message& message) override;
  void on_gone(int member, const std::string& why) override;
  void on_remark(const std::string& line) override { events().on_remark(line); }
  void on_away(int member, const std::string& why) override { tell_of_absence(member, &why); }
  void on_back(int member) override { tell_of_absence(member, nullptr); }
  void take_stop(int member, int node, StopCause cause);
  void take_ending(int member, int node, PodEnding ending);
  void take_newcomer(int member, const Message& message);
  void tell_of_absence(int member, const std::string* why);  // null: it is over
  void stop_all(const StopCause& cause, int but_node);
  void decide_when_complete();
  void send_verdict(const JobVerdict& verdict);
  PodAccount& account(int node) { return round_.accounts.at(static_cast<std::size_t>(node)); }

  struct OfRound {
    int mine = 0;
    std::map<int, int> members{};          // member of the hub → place in the roster
    std::map<int, OfferMessage> spares{};  // newcomers among them
    std::vector<PodAccount> accounts{};
    std::vector<std::string> names{};  // of the pods
    std::vector<std::string> lost{};   // of these
    std::set<int> awaited{};           // the places that have neither ended nor gone
    Phase phase = Phase::Running;
  };

  std::unique_ptr<Hub> hub_;
  OfRound round_;
};

// "node 10.0.0.3 was lost: …", for exit status 75.
StopCause pod_lost(int node, const std::string& host, const std::string& why);
// The remark when that is no reason to stop any more.
std::string lost_after_work(const std::string& host);

}  // namespace paddle_launch
