// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/hub_meeting.h"

#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/task_agreement.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr int kProbeEveryTicks = 2;
// How long those who are a little late may still come for the bad news.
constexpr std::chrono::seconds kForLatecomers{10};
constexpr std::chrono::seconds kForThoseHere{2};
constexpr std::chrono::seconds kWorthAWord{2};

}  // namespace

HubMeeting::HubMeeting(EventLoop& loop, const TcpSettings& settings, UniqueFd listener,
                       const JobTerms& terms, const PodOffer& mine, std::vector<int> ports_taken)
    : loop_(loop),
      settings_(settings),
      terms_(terms),
      mine_(offer_message(terms, mine)),
      hub_(std::make_unique<Hub>(loop, std::move(listener), settings.identity)),
      hub_probe_(loop, settings.identity, settings.ports, settings.from, mine_,
                 {.answered =
                      [this](const std::string& host, const RefusalMessage& refusal) {
                        refused_by_another_hub(host, refusal);
                      },
                  .nobody = [this](const std::string& host,
                                   const std::string& why) { last_tries_[host] = why; }}),
      ticking_(loop),
      lingering_(loop),
      bad_news_(loop),
      started_(EventLoop::Clock::now()),
      others_(settings.identity.greeting.tag) {
  if (terms_.place) member_of_place_[*terms_.place] = kMyself;
  hub_->set_events(
      {.message = [this](int member, const Message& message) { take(member, message); },
       .gone = [this](int member, const std::string&) { gone(member); },
       .remark = settings_.remark,
       .other_job = [this](
                        const Greeting& greeting,
                        std::uint32_t address) { others_.met(greeting, format_ipv4(address)); }});
  // Somebody on this very machine has the usual port: another job, or this one started twice.
  if (!ports_taken.empty()) hub_probe_.probe(mine_.offer.host, std::move(ports_taken));
}

Met HubMeeting::run(const PayloadMaker& payload) {
  if (!terms_.problem.empty()) {
    const std::string text = fmt::format("{}: {}", node_name(mine_), terms_.problem);
    refuse({.status = status_of(terms_), .node = 0, .text = text}, kForLatecomers);
  }
  ticking_.set(kTick, [this] { tick(); });
  try {
    loop_.run_until([this] { return is_over_; });
  } catch (const StoppedBySignal&) {
    // Those who heard the refusal were faster, and srun or mpirun stops the others; all was said.
    if (!has_told_for_all()) throw;
  }
  if (!refusal_) return complete(payload);
  if (has_told_for_all()) throw AlreadyTold{refusal_->status};
  throw_refusal(*refusal_);
}

void HubMeeting::take(int member, const Message& message) {
  if (const auto* offer = std::get_if<OfferMessage>(&message)) take_offer(member, *offer);
}

void HubMeeting::take_offer(int member, const OfferMessage& offer) {
  if (refusal_) {
    hub_->send(member, *refusal_);
    ++told_;
    return;
  }
  const std::optional<std::string> problem = objection(offer);
  arrived_.emplace(member, offer);
  if (problem) {
    return refuse({.status = status_of(offer.terms),
                   .node = offer.terms.place.value_or(-1),
                   .text = *problem},
                  kForLatecomers);
  }
  if (offer.terms.place) member_of_place_[*offer.terms.place] = member;
  if (static_cast<int>(arrived_.size()) + 1 == terms_.nodes) all_are_here();
}

// What a scheduler started together ends with one status; of nodes that were typed one by one each
// ends with its own.
int HubMeeting::status_of(const JobTerms& terms) const {
  return settings_.hub_tells_for_all && !terms.problem.empty() ? terms.problem_status
                                                               : kLaunchErrorStatus;
}

void HubMeeting::all_are_here() {
  is_over_ = settings_.node_of.empty();
  if (is_over_) return;
  std::vector<OfferMessage> pods(static_cast<std::size_t>(terms_.nodes));
  for (const auto& [place, member] : member_of_place_) {
    pods.at(static_cast<std::size_t>(place)) = member == kMyself ? mine_ : arrived_.at(member);
  }
  const auto problem = task_disagreement(pods, settings_.node_of);
  is_over_ = !problem;
  if (problem) refuse(*problem, kForThoseHere);
}

std::optional<std::string> HubMeeting::objection(const OfferMessage& offer) const {
  if (auto problem = misfit(mine_, offer)) return problem;
  if (!offer.terms.place) return std::nullopt;
  if (*offer.terms.place >= terms_.nodes) return no_such_place(offer, terms_.nodes);
  const auto other = member_of_place_.find(*offer.terms.place);
  if (other == member_of_place_.end()) return std::nullopt;
  return both_claim(other->second == kMyself ? mine_ : arrived_.at(other->second), offer);
}

void HubMeeting::gone(int member) {
  const auto found = arrived_.find(member);
  if (found != arrived_.end()) {
    const std::optional<int> place = found->second.terms.place;
    if (place && member_of_place_[*place] == member) member_of_place_.erase(*place);
    arrived_.erase(found);
  }
  if (refusal_) stop_when_all_are_told();
}

// It tells those whom it knows; who came to us hears it from us. Whoever looks for a hub on this
// machine finds the other one first.
void HubMeeting::refused_by_another_hub(const std::string& host, const RefusalMessage& refusal) {
  ++told_;
  refuse(refusal, host == mine_.offer.host ? kForThoseHere : kForLatecomers);
}

void HubMeeting::refuse(RefusalMessage refusal, std::chrono::milliseconds patience) {
  if (refusal_) return;
  refusal_ = std::move(refusal);
  // Before anybody hears it and ends: srun and mpirun may stop us as soon as one has failed.
  if (has_told_for_all()) settings_.refusal(refusal_->text);
  for (const auto& [member, offer] : arrived_) {
    hub_->send(member, *refusal_);
    ++told_;
  }
  ticking_.stop();
  // Usually all are told in a moment, and the error at the end says it.
  if (settings_.problem && patience > kWorthAWord && !has_told_for_all()) {
    bad_news_.set(kWorthAWord, [this] { settings_.problem(refusal_->text); });
  }
  lingering_.set(patience, [this] { is_over_ = true; });
  stop_when_all_are_told();
}

void HubMeeting::stop_when_all_are_told() {
  if (told_ + 1 >= terms_.nodes && arrived_.empty()) is_over_ = true;
}

void HubMeeting::tick() {
  ticking_.set(kTick, [this] { tick(); });
  const WaitingFacts now = facts();
  if (EventLoop::Clock::now() - started_ >= settings_.timeout) {
    return refuse({.status = kNodeMissingStatus, .node = -1, .text = settings_.never_came(now)},
                  kForThoseHere);
  }
  if (settings_.waiting) {
    // That nobody opens while a node has not been started is no news; in the end it may be.
    WaitingFacts shown = now;
    shown.last_try.clear();
    settings_.waiting(shown);
  }
  missing_news_.tell(*hub_, now, arrived_);
  if (now.waited.count() % kProbeEveryTicks == 0) probe();
}

std::vector<std::string> HubMeeting::missing_names() const {
  const std::vector<std::string>& all = terms_.ips.empty() ? settings_.names : terms_.ips;
  std::vector<std::string> names;
  for (std::size_t place = 0; place < all.size(); ++place) {
    if (!member_of_place_.contains(static_cast<int>(place))) names.push_back(all[place]);
  }
  return names;
}

WaitingFacts HubMeeting::facts() const {
  WaitingFacts facts;
  facts.nodes = terms_.nodes;
  facts.missing = terms_.nodes - 1 - static_cast<int>(arrived_.size());
  facts.names = missing_names();
  keep_first_names(facts.names);
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

void HubMeeting::probe() {
  if (terms_.ips.empty()) return;  // nobody else would listen
  const std::vector<std::string> names = missing_names();
  if (!names.empty()) hub_probe_.probe(names[next_probe_++ % names.size()]);
}

}  // namespace paddle_launch
