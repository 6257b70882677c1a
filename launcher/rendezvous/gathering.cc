// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/gathering.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/hub_session.h"
#include "launcher/job/errors.h"
#include "launcher/rendezvous/agreement.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTick{1};

}  // namespace

Gathering::Gathering(EventLoop& loop, GatheringSettings settings, Connections connections,
                     OfferMessage mine)
    : loop_(loop),
      settings_(std::move(settings)),
      hub_(std::move(connections.hub)),
      names_(std::move(connections.names)),
      members_(std::move(connections.members)),
      news_(std::move(connections.news)),
      mine_(std::move(mine)),
      ticking_(loop),
      settling_(loop),
      started_(EventLoop::Clock::now()),
      changed_(started_) {
  need_not_settle_ = settings_.elastic && settings_.elastic->has_settled;
  hub_->relax();
  hub_->set_events(
      {.message = [this](int member, const Message& message) { take(member, message); },
       .gone = [this](int member, const std::string& why) { gone(member, why); },
       .remark = settings_.remark});
}

std::optional<Met> Gathering::run(const PayloadMaker& payload) {
  take_news();
  ticking_.set(kTick, [this] { tick(); });
  consider();
  try {
    loop_.run_until([this] { return roster_ || refusal_ || given_up_; });
  } catch (const StoppedBySignal& stopped) {
    // In an elastic job the others go on without us.
    if (settings_.elastic) throw;
    hub_->send_all(refusal_because(stopped, mine_));
    let_all_hear();
    throw;
  }
  if (refusal_) {
    let_all_hear();
    throw_refusal(*refusal_);
  }
  if (given_up_) return std::nullopt;
  keep_latecomers();
  return give_roster(std::move(hub_), *complete_, std::move(*roster_), payload);
}

// What happened since the last round: who went may have said why before.
void Gathering::take_news() {
  for (const auto& [member, message] : std::exchange(news_->messages, {})) {
    const bool is_last_word = std::holds_alternative<RefusalMessage>(message);
    if (is_last_word || hub_->has(member)) take(member, message);
  }
  for (const auto& [member, why] : std::exchange(news_->gone, {})) gone(member, why);
}

void Gathering::take(int member, const Message& message) {
  if (const auto* offer = std::get_if<OfferMessage>(&message)) return take_offer(member, *offer);
  // A pod that was here before ends the job: somebody interrupted it, or it cannot go on.
  const auto* refusal = std::get_if<RefusalMessage>(&message);
  if (refusal != nullptr && !settings_.elastic && members_.contains(member)) refuse(*refusal);
}

void Gathering::take_offer(int member, const OfferMessage& offer) {
  const std::optional<std::string> problem = objection(member, offer);
  if (!problem) {
    if (!members_.contains(member)) take_place_of_absent(offer);
    OfferMessage& arrived = arrived_.insert_or_assign(member, offer).first->second;
    // Rounds have been played without it: somebody else has its place now.
    const bool is_stale = settings_.elastic && offer.terms.round + 1 != settings_.round.number;
    if (is_stale) arrived.terms.place.reset();
    return changed();
  }
  const RefusalMessage refusal{.status = 1, .node = -1, .text = *problem};
  const bool is_needed = !settings_.elastic && members_.contains(member);
  if (is_needed) return refuse(refusal);
  // Somebody who only came now: the others can do without it.
  hub_->send(member, refusal);
  if (settings_.remark) settings_.remark("turned a node away: " + *problem);
}

// Also of one that has not made its offer yet, if it was there before.
std::string Gathering::name_of(int member) const {
  if (const auto found = arrived_.find(member); found != arrived_.end()) {
    return found->second.offer.name;
  }
  const auto known = members_.find(member);
  const std::size_t place =
      known == members_.end() ? names_.size() : static_cast<std::size_t>(known->second);
  return place < names_.size() ? names_[place] : "";
}

void Gathering::gone(int member, const std::string& why) {
  const std::string name = name_of(member);
  arrived_.erase(member);
  need_not_settle_ = false;
  if (settings_.elastic && !name.empty()) settings_.elastic->lost(name);
  if (!settings_.others_may_come && !refusal_ && members_.contains(member)) {
    const auto place = static_cast<std::size_t>(members_.at(member));
    refuse(
        {.status = kNodeMissingStatus,
         .node = -1,
         .text = fmt::format("node {} was lost between two rounds: {}",
                             place < settings_.hosts.size() ? settings_.hosts[place] : "?", why)});
  }
  changed();
}

void Gathering::changed() {
  changed_ = EventLoop::Clock::now();
  consider();
}

int Gathering::wanted() const {
  return settings_.elastic ? settings_.elastic->nodes().min : settings_.nodes;
}

bool Gathering::has_settled() const {
  return EventLoop::Clock::now() - changed_ >= settings_.elastic->settle;
}

bool Gathering::is_complete() const {
  if (!settings_.elastic) return here() == settings_.nodes;
  const NodeRange range = settings_.elastic->nodes();
  if (here() < range.min) return false;
  // Whoever is connected has a say in who keeps its place; not for long.
  const bool are_all_heard = hub_->members() <= arrived_.size();
  if (here() >= range.max) return are_all_heard || has_settled();
  // The same nodes as before need not settle.
  if (is_as_before(arrived_)) return true;
  std::set<std::string> names = {mine_.offer.name};
  for (const auto& [member, offer] : arrived_) names.insert(offer.offer.name);
  const bool are_all_here = are_all_heard && settings_.elastic->expected(names) == 0;
  if (need_not_settle_ && are_all_here) return true;
  if (!has_settled()) return false;
  // Somebody who is booked may be unable to reach us.
  return are_all_here || EventLoop::Clock::now() - started_ >= settings_.elastic->patience;
}

// `pods`: with this one the whole round.
bool Gathering::is_as_before(const std::map<int, OfferMessage>& pods) const {
  return static_cast<int>(pods.size()) + 1 == settings_.elastic->before &&
         mine_.terms.place.has_value() &&
         std::all_of(pods.begin(), pods.end(),
                     [](const auto& one) { return one.second.terms.place.has_value(); });
}

void Gathering::consider() {
  if (committing_ || refusal_ || given_up_ || roster_) return;
  if (is_complete()) return commit();
  if (!settings_.elastic || settling_.is_set()) return;
  const auto left = settings_.elastic->settle - (EventLoop::Clock::now() - changed_);
  if (here() < wanted() || left.count() <= 0) return;
  settling_.set(std::chrono::ceil<std::chrono::milliseconds>(left), [this] { consider(); });
}

void Gathering::tick() {
  ticking_.set(kTick, [this] { tick(); });
  const WaitingFacts now = facts();
  const bool is_late = EventLoop::Clock::now() - started_ >= settings_.timeout;
  const bool is_held_up = settings_.elastic && settings_.elastic->is_held_up();
  if (is_late && (here() < wanted() || is_held_up)) {
    return refuse({.status = kNodeMissingStatus, .node = -1, .text = settings_.never_came(now)});
  }
  if (settings_.waiting && now.missing > 0) settings_.waiting(now);
  // With none missing it would say that the job runs without whoever hears it.
  if (now.missing > 0) missing_news_.tell(*hub_, now, arrived_);
  consider();
}

WaitingFacts Gathering::facts() const {
  WaitingFacts facts;
  facts.nodes = wanted();
  facts.missing = std::max(0, wanted() - here());
  facts.waited =
      std::chrono::duration_cast<std::chrono::seconds>(EventLoop::Clock::now() - started_);
  std::set<int> places = {mine_.terms.place.value_or(0)};
  for (const auto& [member, offer] : arrived_) {
    if (!offer.terms.place) return facts;  // who is missing is not known by name
    places.insert(*offer.terms.place);
  }
  for (std::size_t place = 0; place < settings_.hosts.size(); ++place) {
    if (!places.contains(static_cast<int>(place))) facts.names.push_back(settings_.hosts[place]);
  }
  keep_first_names(facts.names);
  return facts;
}

void Gathering::refuse(RefusalMessage refusal) {
  if (refusal_) return;
  refusal_ = std::move(refusal);
  hub_->send_all(*refusal_);
}

}  // namespace paddle_launch
