// SPDX-License-Identifier: Apache-2.0
// How a gathering ends: who gets which place, the agreement on it, and the last words to those who
// have none.
#include <set>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/gathering.h"
#include "launcher/rendezvous/round_places.h"

namespace paddle_launch {

CompleteMeeting Gathering::meeting() const {
  CompleteMeeting meeting{.mine = mine_, .node_of = settings_.node_of, .round = settings_.round};
  if (settings_.elastic) {
    choose_elastic_places(meeting);
    return meeting;
  }
  std::set<int> taken = {mine_.terms.place.value_or(0)};
  for (const auto& [member, offer] : arrived_) {
    if (offer.terms.place) taken.insert(*offer.terms.place);
  }
  meeting.my_place = mine_.terms.place.value_or(0);
  meeting.offers = arrived_;
  for (const auto& [member, offer] : arrived_) {
    int place = offer.terms.place.value_or(0);
    while (!offer.terms.place && taken.contains(place)) ++place;
    taken.insert(place);
    meeting.places[member] = place;
  }
  return meeting;
}

void Gathering::choose_elastic_places(CompleteMeeting& meeting) const {
  std::vector<Candidate> candidates = {{mine_.terms.place}};
  for (const auto& [member, offer] : arrived_) candidates.push_back({offer.terms.place});
  const auto places = round_places(candidates, settings_.elastic->nodes().max);
  meeting.my_place = places.front().value_or(0);
  auto next = places.begin() + 1;
  for (const auto& [member, offer] : arrived_) {
    const std::optional<int> place = *next++;
    (place ? meeting.offers : meeting.spares).emplace(member, offer);
    if (place) meeting.places[member] = *place;
  }
}

void Gathering::commit() {
  complete_ = meeting();
  Roster roster = make_roster(*hub_, *complete_);
  const auto agreed = [this, roster] {
    roster_ = roster;
    dismiss_the_rest();
  };
  if (!settings_.elastic) return agreed();
  committing_ = true;
  settings_.elastic->commit(roster, is_as_before(complete_->offers),
                            [this, agreed, alive = std::weak_ptr<bool>(alive_)](bool is_agreed) {
                              if (alive.expired()) return;
                              committing_ = false;
                              if (is_agreed && !refusal_ && !given_up_) agreed();
                              // Otherwise at the next news, or the next tick.
                            });
}

// The job runs without whoever hears it.
WaitingMessage Gathering::spare_message() const {
  return {.missing = 0, .nodes = static_cast<int>(complete_->places.size()) + 1, .names = {}};
}

// Who had a place and has none now was scaled in; who never had one may be needed yet.
void Gathering::dismiss_the_rest() {
  for (auto one = complete_->spares.begin(); one != complete_->spares.end();) {
    const auto& [member, offer] = *one;
    if (!offer.terms.place) {
      hub_->send(member, spare_message());
      ++one;
      continue;
    }
    hub_->send(member, RefusalMessage{.status = 0,
                                      .node = -1,
                                      .text = "this node is no longer needed: the job was scaled "
                                              "in and goes on without it"});
    dismissed_.insert(member);
    one = complete_->spares.erase(one);
  }
}

// They came while the round was being agreed on; it is the next one's business to take them in.
void Gathering::keep_latecomers() {
  for (const auto& [member, offer] : arrived_) {
    const bool is_known = complete_->places.contains(member) ||
                          complete_->spares.contains(member) || dismissed_.contains(member);
    if (is_known) continue;
    complete_->spares.emplace(member, offer);
    hub_->send(member, spare_message());
  }
}

void Gathering::let_all_hear() {
  ticking_.stop();
  settling_.stop();
  hub_->let_members_leave(kLastWord);
}

}  // namespace paddle_launch
