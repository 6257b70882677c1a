// SPDX-License-Identifier: Apache-2.0
// The hub's part in every meeting but the first of a job whose nodes were named: whoever is
// connected already, and whoever comes, makes its offer; when they are complete all get the roster
// of the next round.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/connections.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/give_roster.h"
#include "launcher/rendezvous/missing_news.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

// How many nodes there may be, in a job where that changes.
struct ElasticRule {
  std::function<NodeRange()> nodes{};
  std::chrono::milliseconds settle{0};
  int before = 0;  // nodes of the round before; 0: this is the first
  // The nodes of this round were known, and held, before the last one was stopped.
  bool has_settled = false;
  // How many pods are known to be on their way; `here`: the names of those who have come. Once
  // there are enough, they are waited for so long.
  std::function<int(const std::set<std::string>& here)> expected{};
  std::chrono::milliseconds patience{0};
  std::function<void(const std::string& name)> lost{};  // who had come and went
  // Asked before the roster goes out; the answer may come later. No: the roster is made anew.
  // `as_before`: the pods are those of the last round.
  std::function<void(const Roster&, bool as_before, std::function<void(bool)>)> commit{};
  std::function<bool()> is_held_up{};  // by something that no node can help
};

struct GatheringSettings {
  RoundState round{};
  int nodes = 1;                     // of a job that is not elastic
  std::vector<std::string> hosts{};  // of its places, for messages
  std::vector<int> node_of{};
  bool others_may_come = true;  // false: a scheduler started all that there are
  std::optional<ElasticRule> elastic{};
  std::chrono::milliseconds timeout{0};
  std::function<void(const WaitingFacts&)> waiting{};            // about once a second
  std::function<std::string(const WaitingFacts&)> never_came{};  // the error after the timeout
  std::function<void(const std::string&)> remark{};
};

class Gathering {
 public:
  // `mine`: its terms have this pod's place of the round before, if any.
  Gathering(EventLoop& loop, GatheringSettings settings, Connections connections,
            OfferMessage mine);

  // None: give_up() was called, and everyone who had come is turned away to look for another hub.
  // Throws what throw_refusal() does when there will be no round.
  std::optional<Met> run(const PayloadMaker& payload);

  // Something outside has changed: look again.
  void look_again() { consider(); }
  void give_up() { given_up_ = true; }
  void refuse(RefusalMessage refusal);
  bool is_refused() const { return refusal_.has_value(); }

 private:
  void take_news();
  void take(int member, const Message& message);
  void take_offer(int member, const OfferMessage& offer);
  std::optional<std::string> objection(int member, const OfferMessage& offer) const;
  std::optional<std::string> taken_place(int member, const OfferMessage& offer) const;
  int free_places() const;
  void take_place_of_absent(const OfferMessage& offer);
  std::string name_of(int member) const;
  void gone(int member, const std::string& why);
  void tick();
  void consider();
  bool is_complete() const;
  bool is_as_before(const std::map<int, OfferMessage>& pods) const;
  bool has_settled() const;
  int here() const { return static_cast<int>(arrived_.size()) + 1; }
  int wanted() const;
  WaitingFacts facts() const;
  CompleteMeeting meeting() const;
  void choose_elastic_places(CompleteMeeting& meeting) const;
  void commit();
  WaitingMessage spare_message() const;
  void dismiss_the_rest();
  void keep_latecomers();
  void let_all_hear();
  void changed();

  EventLoop& loop_;
  GatheringSettings settings_;
  std::unique_ptr<Hub> hub_;
  std::vector<std::string> names_;  // of the pods of the round before
  std::map<int, int> members_;      // the places of those who were in the round before
  std::shared_ptr<BetweenNews> news_;
  OfferMessage mine_;
  std::map<int, OfferMessage> arrived_;  // by member
  std::optional<RefusalMessage> refusal_;
  std::optional<CompleteMeeting> complete_;
  std::optional<Roster> roster_;
  MissingNews missing_news_;
  std::set<int> dismissed_;  // members who are told that they are not needed
  bool committing_ = false;
  bool given_up_ = false;
  bool need_not_settle_ = false;
  Alarm ticking_;
  Alarm settling_;
  EventLoop::Clock::time_point started_;
  EventLoop::Clock::time_point changed_;
  // Expires with this object: an answer may come when it is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace paddle_launch
