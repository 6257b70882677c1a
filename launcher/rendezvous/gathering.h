// SPDX-License-Identifier: Apache-2.0
// The hub's part in every meeting of pods, for the first round and for each later one: whoever is
// connected already, and whoever comes, makes its offer; when they are complete all get one roster,
// or all hear why there will be none.
//
//   gathering   offers come and go; once a second everyone hears who is missing
//   agreeing    complete; an elastic job asks etcd whether the roster counts, others need nobody
//   refused     all are told why, and those who still come, for a limited time
//   given up    another pod holds the elastic job together now
//   complete    the roster goes out
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/hub_session.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/give_roster.h"
#include "launcher/rendezvous/hub_search.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

// Of a job whose number of nodes changes: what its book in etcd says.
class ElasticRule {
 public:
  virtual ~ElasticRule() = default;

  virtual NodeRange nodes() const = 0;
  // How many pods are known to be on their way; `here`: the names of those who have come.
  virtual int expected(const std::set<std::string>& here) const = 0;
  // Who had come and went.
  virtual void on_lost(const std::string& name) = 0;
  // Asked before the roster goes out; the answer may come later. No: the roster is made anew.
  // `as_before`: the pods are those of the last round.
  virtual void commit(const Roster& roster, bool as_before, std::function<void(bool)> answered) = 0;
  // By something that no node can help.
  virtual bool is_held_up() const = 0;
  // Nodes are missing.
  virtual void on_waiting() = 0;
  // The error after the time-out.
  virtual std::string too_few(const WaitingFacts& facts) const = 0;
};

struct ElasticTerms {
  ElasticRule* rule = nullptr;
  std::chrono::milliseconds settle{0};
  int before = 0;  // nodes of the round before; 0: this is the first
  // The nodes of this round were known, and held, before the last one was stopped.
  bool has_settled = false;
  // Once there are enough, those who are known to be on their way are waited for so long.
  std::chrono::milliseconds patience{0};
};

// Where another pod may believe that it is the hub itself.
struct ProbeTerms {
  std::vector<int> ports{};
  std::optional<std::uint32_t> from{};
  std::vector<int> ports_taken{};  // of this machine, by somebody else
  bool asks_missing = false;       // one node after the other, while they have not come
};

struct GatheringSettings {
  RoundState round{};
  // Before any round: whoever does not fit ends the job for all.
  bool is_first = false;
  int nodes = 1;                     // of a job that is not elastic
  std::vector<std::string> names{};  // of its places, for messages; empty: not known
  std::vector<int> node_of{};
  bool others_may_come = true;     // false: a scheduler started all that there are
  bool are_compared = false;       // the offers, and they agree
  bool hub_tells_for_all = false;  // all launchers share one console: a refusal is said once
  std::optional<std::uint32_t> address{};  // of this pod; none: as in its offer
  std::optional<ProbeTerms> probe{};
  std::optional<ElasticTerms> elastic{};
  std::chrono::milliseconds timeout{0};
};

class Gathering final : private Hub::Listener {
 public:
  // `mine`: its terms have this pod's place of the round before, if any.
  Gathering(EventLoop& loop, GatheringSettings settings, HubSession& session, OfferMessage mine,
            Narrator& narrator);
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;
  ~Gathering() override { hub_.stop_listening(); }

  // The round has begun for the session when this returns. None: give_up() was called, and everyone
  // who had come is to look for another hub. Throws what throw_refusal() does when there will be no
  // round.
  std::optional<Gathered> run(const PayloadMaker& payload);

  // Something outside has changed: look again.
  void look_again() { consider(); }
  void give_up() { given_up_ = true; }
  // Ends it for all, who are told within `patience`.
  void refuse(RefusalMessage refusal, std::chrono::milliseconds patience = kLastWord);
  bool is_refused() const { return refusal_.has_value(); }

 private:
  void on_message(int member, const Message& message) override;
  void on_offer(int member, const OfferMessage& offer);
  void on_gone(int member, const std::string& why) override;
  void on_remark(const std::string& line) override { narrator_.remark(line); }
  void on_other_job(const Greeting& greeting, std::uint32_t address) override;
  void on_answer_of_another_hub(const std::string& host, const RefusalMessage& refusal);

  std::optional<std::string> objection(int member, const OfferMessage& offer) const;
  std::optional<std::string> taken_place(int member, const OfferMessage& offer) const;
  void forget_place_of(int member);
  int status_of(const JobTerms& terms) const;
  int free_places() const;
  void take_place_of_absent(const OfferMessage& offer);
  std::string name_of(int member) const;

  void tick();
  void changed();
  void consider();
  bool is_complete() const;
  bool is_elastic_complete() const;
  bool is_as_before(const std::map<int, OfferMessage>& pods) const;
  bool has_settled() const;
  int here() const { return static_cast<int>(arrived_.size()) + 1; }
  int wanted() const;
  std::vector<std::string> missing_names() const;
  WaitingFacts facts() const;
  void probe_next();
  void tell_who_is_missing(const WaitingFacts& facts);

  CompleteMeeting meeting() const;
  void choose_places(CompleteMeeting& meeting) const;
  void choose_elastic_places(CompleteMeeting& meeting) const;
  std::optional<RefusalMessage> disagreement_of_tasks(const CompleteMeeting& meeting) const;
  void commit();
  void settle(Roster roster);
  WaitingMessage spare_message() const;
  void dismiss_the_rest();
  void keep_latecomers();

  bool tells_for_all() const { return settings_.is_first && settings_.hub_tells_for_all; }
  bool are_all_told() const;

  EventLoop& loop_;
  GatheringSettings settings_;
  HubSession& session_;
  Hub& hub_;
  OfferMessage mine_;
  Narrator& narrator_;
  std::map<int, OfferMessage> arrived_;  // by member
  std::map<int, int> member_at_;         // of those, by the place that it wishes
  std::optional<RefusalMessage> refusal_;
  std::set<int> told_;      // the members that know of it
  int told_elsewhere_ = 0;  // pods that know of it from another hub
  std::optional<CompleteMeeting> complete_;
  std::optional<Roster> roster_;
  std::set<int> dismissed_;  // members who are told that they are not needed
  bool agreeing_ = false;
  bool given_up_ = false;
  bool is_over_ = false;
  bool need_not_settle_ = false;
  WaitingMessage last_news_;  // about who is missing
  std::set<int> know_last_;   // the members that have heard it
  std::optional<HubProbe> probe_;
  std::size_t next_probed_ = 0;
  std::map<std::string, std::string> last_tries_;  // what came of probing a node
  OtherLaunchers others_;
  Alarm ticking_;
  Alarm settling_;
  Alarm lingering_;
  Alarm bad_news_;
  EventLoop::Clock::time_point started_;
  EventLoop::Clock::time_point changed_;
  // Expires with this object: an answer may come when it is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace paddle_launch
