// SPDX-License-Identifier: Apache-2.0
// docs/several-nodes.md tells how nodes meet, docs/elastic.md what is different where their number
// changes.
#include "launcher/rendezvous/gathering.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/places.h"
#include "launcher/tell/waiting.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr int kProbeEveryTicks = 2;
// How long those who are a little late may still come for the bad news.
constexpr std::chrono::seconds kForLatecomers{10};
constexpr std::chrono::seconds kWorthAWord{2};
// Everyone once a second would be many messages for a line that few people read.
constexpr std::size_t kMostNames = 8;

}  // namespace

Gathering::Gathering(EventLoop& loop, GatheringSettings settings, HubSession& session,
                     OfferMessage mine, Narrator& narrator)
    : loop_(loop),
      settings_(std::move(settings)),
      session_(session),
      hub_(session.hub()),
      mine_(std::move(mine)),
      narrator_(narrator),
      others_(hub_.identity().greeting),
      ticking_(loop),
      settling_(loop),
      lingering_(loop),
      bad_news_(loop),
      started_(EventLoop::Clock::now()),
      changed_(started_) {
  need_not_settle_ = settings_.elastic && settings_.elastic->has_settled;
  if (!settings_.probe) return;
  probe_.emplace(
      loop, hub_.identity(), settings_.probe->ports, settings_.probe->from, mine_,
      HubProbe::Events{.answered =
                           [this](const std::string& host, const RefusalMessage& refusal) {
                             on_answer_of_another_hub(host, refusal);
                           },
                       .nobody = [this](const std::string& host,
                                        const std::string& why) { last_tries_[host] = why; }});
  // Somebody on this very machine has the usual port: another job, or this one started twice.
  if (!settings_.probe->ports_taken.empty()) {
    probe_->probe(mine_.offer.host, settings_.probe->ports_taken);
  }
}

std::optional<Gathered> Gathering::run(const PayloadMaker& payload) {
  if (!mine_.terms.problem.empty()) {
    refuse({.status = status_of(mine_.terms),
            .node = 0,
            .text = fmt::format("{}: {}", node_name(mine_), mine_.terms.problem)},
           kForLatecomers);
  }
  hub_.relax();
  for (const auto& [member, offer] : session_.take_spares()) on_offer(member, offer);
  hub_.listen(*this);
  if (!refusal_) ticking_.set(kTick, [this] { tick(); });
  consider();
  try {
    loop_.run_until([this] { return roster_ || is_over_ || given_up_; });
  } catch (const StoppedBySignal& stopped) {
    // Those who heard the refusal were faster, and srun or mpirun stops the others; all was said.
    if (refusal_ && tells_for_all()) throw AlreadyTold{refusal_->status};
    // In an elastic job the others go on without us; before the first round they look for us again.
    if (settings_.elastic || settings_.is_first) throw;
    hub_.send_all(refusal_because(stopped, mine_));
    hub_.let_members_leave(kLastWord);
    throw;
  }
  if (refusal_ && tells_for_all()) throw AlreadyTold{refusal_->status};
  if (refusal_) throw_refusal(*refusal_);
  if (given_up_) return std::nullopt;
  // Whoever answers the roster at once is heard by the round.
  hub_.stop_listening();
  keep_latecomers();
  return give_roster(session_, *complete_, std::move(*roster_), payload);
}

void Gathering::on_message(int member, const Message& message) {
  if (const auto* offer = std::get_if<OfferMessage>(&message)) return on_offer(member, *offer);
  // A pod that was here before ends the job: somebody interrupted it, or it cannot go on.
  const auto* refusal = std::get_if<RefusalMessage>(&message);
  const bool is_needed = !settings_.elastic && session_.members().contains(member);
  if (refusal != nullptr && is_needed) refuse(*refusal);
}

void Gathering::on_other_job(const Greeting& greeting, std::uint32_t address) {
  others_.met(greeting, format_ipv4(address));
}

void Gathering::on_offer(int member, const OfferMessage& offer) {
  // It may belong to another job, and looks on for its own hub.
  const bool is_for_want_of_another = offer.terms.other_command;
  if (is_for_want_of_another && (refusal_ || !settings_.is_first)) return hub_.drop(member);
  if (refusal_) {
    hub_.send(member, *refusal_);
    told_.insert(member);
    return;
  }
  if (!hub_.has(member)) return;  // it said so and went
  const std::optional<std::string> problem = objection(member, offer);
  if (!problem) {
    if (!session_.members().contains(member)) take_place_of_absent(offer);
    forget_place_of(member);
    OfferMessage& arrived = arrived_.insert_or_assign(member, offer).first->second;
    if (offer.terms.place) member_at_[*offer.terms.place] = member;
    // Rounds have been played without it: somebody else has its place now.
    const bool is_stale = settings_.elastic && offer.terms.round + 1 != settings_.round.number;
    if (is_stale) arrived.terms.place.reset();
    return changed();
  }
  if (is_for_want_of_another) return hub_.drop(member);
  if (settings_.is_first) {
    told_.insert(member);
    return refuse({.status = status_of(offer.terms),
                   .node = offer.terms.place.value_or(-1),
                   .text = *problem},
                  kForLatecomers);
  }
  const RefusalMessage refusal{.status = 1, .node = -1, .text = *problem};
  const bool is_needed = !settings_.elastic && session_.members().contains(member);
  if (is_needed) return refuse(refusal);
  // Somebody who only came now: the others can do without it.
  hub_.send(member, refusal);
  narrator_.remark("turned a node away: " + *problem);
}

void Gathering::on_gone(int member, const std::string& why) {
  const std::string name = name_of(member);
  const auto place = session_.members().find(member);
  const bool is_needed = !settings_.is_first && place != session_.members().end();
  forget_place_of(member);
  arrived_.erase(member);
  need_not_settle_ = false;
  if (settings_.elastic && !name.empty()) settings_.elastic->rule->on_lost(name);
  if (!settings_.others_may_come && !refusal_ && is_needed) {
    const auto index = static_cast<std::size_t>(place->second);
    refuse(
        {.status = kNodeMissingStatus,
         .node = -1,
         .text = fmt::format("node {} was lost between two rounds: {}",
                             index < settings_.names.size() ? settings_.names[index] : "?", why)});
  }
  if (refusal_ && are_all_told()) is_over_ = true;
  changed();
}

// It tells those whom it knows; who came to us hears it from us. Whoever looks for a hub on this
// machine finds the other one first.
void Gathering::on_answer_of_another_hub(const std::string& host, const RefusalMessage& refusal) {
  ++told_elsewhere_;
  refuse(refusal, host == mine_.offer.host ? kLastWord : kForLatecomers);
}

void Gathering::refuse(RefusalMessage refusal, std::chrono::milliseconds patience) {
  if (refusal_) return;
  refusal_ = std::move(refusal);
  // Before anybody hears it and ends: srun and mpirun may stop us as soon as one has failed.
  if (tells_for_all()) narrator_.error(refusal_->text);
  hub_.send_all(*refusal_);
  for (const auto& [member, offer] : arrived_) told_.insert(member);
  ticking_.stop();
  settling_.stop();
  // Usually all are told in a moment, and the error at the end says it.
  if (patience > kWorthAWord && !tells_for_all()) {
    bad_news_.set(kWorthAWord, [this] { narrator_.problem(refusal_->text); });
  }
  lingering_.set(patience, [this] { is_over_ = true; });
  if (are_all_told()) is_over_ = true;
}

bool Gathering::are_all_told() const {
  const int told = static_cast<int>(told_.size()) + told_elsewhere_;
  if (settings_.is_first) return told + 1 >= settings_.nodes && arrived_.empty();
  const auto& members = session_.members();
  return !hub_.has_members() &&
         std::none_of(members.begin(), members.end(),
                      [this](const auto& one) { return hub_.is_away(one.first); });
}

// What a scheduler started together ends with one status; of nodes that were typed one by one each
// ends with its own.
int Gathering::status_of(const JobTerms& terms) const {
  return settings_.hub_tells_for_all && !terms.problem.empty() ? terms.problem_status
                                                               : kLaunchErrorStatus;
}

// Why somebody who comes cannot take part.
std::optional<std::string> Gathering::objection(int member, const OfferMessage& offer) const {
  if (!settings_.are_compared) {
    if (auto problem = misfit(mine_, offer)) return problem;
  }
  if (settings_.elastic) return std::nullopt;
  if (auto taken = taken_place(member, offer)) return taken;
  if (session_.members().contains(member) || free_places() > 0) return std::nullopt;
  return fmt::format(
      "{} is one launcher too many: all {} nodes of this job are there; give this launch a "
      "--job_id of its own",
      node_name(offer), settings_.nodes);
}

std::optional<std::string> Gathering::taken_place(int member, const OfferMessage& offer) const {
  if (!offer.terms.place) return std::nullopt;
  const int place = *offer.terms.place;
  if (place >= settings_.nodes) return no_such_place(offer, settings_.nodes);
  if (mine_.terms.place == place) return both_claim(mine_, offer);
  const auto at = member_at_.find(place);
  if (at != member_at_.end() && at->second != member) {
    return both_claim(arrived_.at(at->second), offer);
  }
  const auto before = session_.members().find(member);
  if (before != session_.members().end() && before->second == place) return std::nullopt;
  // It is still about to make its offer.
  for (const auto& [other, others_place] : session_.members()) {
    const bool is_here = other != member && others_place == place && hub_.has(other);
    if (!is_here) continue;
    return fmt::format(
        "{} is in this job already, with another launcher; stop one of them, or, if these are two "
        "jobs, give each its own --job_id",
        node_name(offer));
  }
  return std::nullopt;
}

void Gathering::forget_place_of(int member) {
  const auto found = arrived_.find(member);
  if (found == arrived_.end() || !found->second.terms.place) return;
  member_at_.erase(*found->second.terms.place);
}

// That neither those who have come nor those who are about to make their offer will need.
int Gathering::free_places() const {
  const auto& members = session_.members();
  const auto awaited = std::count_if(members.begin(), members.end(), [this](const auto& one) {
    return hub_.has(one.first) && !arrived_.contains(one.first);
  });
  return settings_.nodes - here() - static_cast<int>(awaited);
}

// Who is out of reach comes too late when somebody else has its place; where others are free, a
// node without a place of its own takes one of those.
void Gathering::take_place_of_absent(const OfferMessage& offer) {
  const auto& members = session_.members();
  const auto away = std::find_if(members.begin(), members.end(), [&](const auto& one) {
    return hub_.is_away(one.first) && offer.terms.place.value_or(one.second) == one.second;
  });
  if (away == members.end()) return;
  const auto absent = std::count_if(members.begin(), members.end(),
                                    [this](const auto& one) { return hub_.is_away(one.first); });
  if (offer.terms.place || free_places() <= absent) hub_.drop(away->first);
}

// Also of one that has not made its offer yet, if it was there before.
std::string Gathering::name_of(int member) const {
  if (const auto found = arrived_.find(member); found != arrived_.end()) {
    return found->second.offer.name;
  }
  const auto known = session_.members().find(member);
  if (known == session_.members().end()) return "";
  const auto place = static_cast<std::size_t>(known->second);
  return place < session_.names().size() ? session_.names()[place] : "";
}

void Gathering::changed() {
  changed_ = EventLoop::Clock::now();
  consider();
}

int Gathering::wanted() const {
  return settings_.elastic ? settings_.elastic->rule->nodes().min : settings_.nodes;
}

bool Gathering::has_settled() const {
  return EventLoop::Clock::now() - changed_ >= settings_.elastic->settle;
}

bool Gathering::is_complete() const {
  return settings_.elastic ? is_elastic_complete() : here() == settings_.nodes;
}

bool Gathering::is_elastic_complete() const {
  const NodeRange range = settings_.elastic->rule->nodes();
  if (here() < range.min) return false;
  // Whoever is connected has a say in who keeps its place; not for long.
  const bool are_all_heard = hub_.members() <= arrived_.size();
  if (here() >= range.max) return are_all_heard || has_settled();
  // The same nodes as before need not settle.
  if (is_as_before(arrived_)) return true;
  std::set<std::string> names = {mine_.offer.name};
  for (const auto& [member, offer] : arrived_) names.insert(offer.offer.name);
  const bool are_all_here = are_all_heard && settings_.elastic->rule->expected(names) == 0;
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
  if (agreeing_ || refusal_ || given_up_ || roster_) return;
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
  const bool is_held_up = settings_.elastic && settings_.elastic->rule->is_held_up();
  if (is_late && (here() < wanted() || is_held_up)) {
    return refuse(
        {.status = kNodeMissingStatus,
         .node = -1,
         .text = settings_.elastic ? settings_.elastic->rule->too_few(now) : never_came(now)});
  }
  if (now.missing > 0) {
    // That nobody opens while a node has not been started is no news; in the end it may be.
    if (settings_.elastic) settings_.elastic->rule->on_waiting();
    WaitingFacts shown = now;
    shown.last_try.clear();
    narrator_.waiting(shown);
    // With none missing it would say that the job runs without whoever hears it.
    tell_who_is_missing(now);
  }
  if (now.waited.count() % kProbeEveryTicks == 0) probe_next();
  consider();
}

void Gathering::probe_next() {
  if (!settings_.probe || !settings_.probe->asks_missing) return;
  const std::vector<std::string> names = missing_names();
  if (!names.empty()) probe_->probe(names[next_probed_++ % names.size()]);
}

// Each member hears only what is news to it.
void Gathering::tell_who_is_missing(const WaitingFacts& facts) {
  WaitingMessage message{facts.missing, facts.nodes, facts.names};
  if (std::exchange(last_news_, message) != message) know_last_.clear();
  const std::string encoded = encode(std::move(message));
  for (const auto& [member, offer] : arrived_) {
    if (know_last_.insert(member).second) hub_.send_encoded(member, encoded);
  }
}

std::vector<std::string> Gathering::missing_names() const {
  std::set<int> places;
  if (mine_.terms.place) places.insert(*mine_.terms.place);
  for (const auto& [member, offer] : arrived_) {
    if (!offer.terms.place) return {};  // who is missing is not known by name
    places.insert(*offer.terms.place);
  }
  std::vector<std::string> names;
  for (std::size_t place = 0; place < settings_.names.size(); ++place) {
    if (!places.contains(static_cast<int>(place))) names.push_back(settings_.names[place]);
  }
  return names;
}

WaitingFacts Gathering::facts() const {
  WaitingFacts facts;
  facts.nodes = wanted();
  facts.missing = std::max(0, wanted() - here());
  facts.names = missing_names();
  facts.names.resize(std::min(facts.names.size(), kMostNames));
  facts.waited =
      std::chrono::duration_cast<std::chrono::seconds>(EventLoop::Clock::now() - started_);
  for (const std::string& name : facts.names) {
    const auto tried = last_tries_.find(name);
    if (tried == last_tries_.end()) continue;
    facts.last_try = fmt::format("{}: {}", name, tried->second);
    break;
  }
  others_.tell(facts);
  return facts;
}

CompleteMeeting Gathering::meeting() const {
  CompleteMeeting meeting{.mine = mine_, .node_of = settings_.node_of, .round = settings_.round};
  settings_.elastic ? choose_elastic_places(meeting) : choose_places(meeting);
  return meeting;
}

void Gathering::choose_places(CompleteMeeting& meeting) const {
  const std::uint32_t my_address =
      settings_.address.value_or(parse_ipv4(mine_.offer.host).value_or(0));
  std::vector<ArrivedNode> nodes = {{mine_.terms.place, my_address, true}};
  for (const auto& [member, offer] : arrived_) {
    const auto address = parse_ipv4(offer.offer.host);
    nodes.push_back({offer.terms.place, address.value_or(hub_.address_of(member)), false});
  }
  const std::vector<int> order = order_nodes(nodes, mine_.terms.sort_ip);
  meeting.my_place = order.front();
  auto next = order.begin() + 1;
  for (const auto& [member, offer] : arrived_) meeting.places[member] = *next++;
}

void Gathering::choose_elastic_places(CompleteMeeting& meeting) const {
  std::vector<Candidate> candidates = {{mine_.terms.place}};
  for (const auto& [member, offer] : arrived_) candidates.push_back({offer.terms.place});
  const auto places = round_places(candidates, settings_.elastic->rule->nodes().max);
  meeting.my_place = places.front().value_or(0);
  auto next = places.begin() + 1;
  for (const auto& [member, offer] : arrived_) {
    const std::optional<int> place = *next++;
    (place ? meeting.offers : meeting.spares).emplace(member, offer);
    if (place) meeting.places[member] = *place;
  }
}

// Among the pods of several nodes, where nobody has compared them all yet.
std::optional<RefusalMessage> Gathering::disagreement_of_tasks(
    const CompleteMeeting& meeting) const {
  if (!settings_.is_first || settings_.node_of.empty() || settings_.are_compared) {
    return std::nullopt;
  }
  std::vector<OfferMessage> pods(static_cast<std::size_t>(settings_.nodes));
  pods.at(static_cast<std::size_t>(meeting.my_place)) = mine_;
  for (const auto& [member, place] : meeting.places) {
    pods.at(static_cast<std::size_t>(place)) = arrived_.at(member);
  }
  return task_disagreement(pods, settings_.node_of);
}

void Gathering::commit() {
  complete_ = meeting();
  if (const auto problem = disagreement_of_tasks(*complete_)) return refuse(*problem);
  // Thousands of them: nobody needs a second copy.
  if (!settings_.elastic) complete_->offers = std::move(arrived_);
  Roster roster = make_roster(hub_, *complete_);
  if (!settings_.elastic) return settle(std::move(roster));
  agreeing_ = true;
  settings_.elastic->rule->commit(
      roster, is_as_before(complete_->offers),
      [this, roster, alive = std::weak_ptr<bool>(alive_)](bool is_agreed) {
        if (alive.expired()) return;
        agreeing_ = false;
        if (is_agreed && !refusal_ && !given_up_) settle(roster);
        // Otherwise at the next news, or the next tick.
      });
}

void Gathering::settle(Roster roster) {
  roster_ = std::move(roster);
  dismiss_the_rest();
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
      hub_.send(member, spare_message());
      ++one;
      continue;
    }
    hub_.send(member, RefusalMessage{.status = 0,
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
    hub_.send(member, spare_message());
  }
}

}  // namespace paddle_launch
