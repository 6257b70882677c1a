// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md tells what pods say to each other. What happens in which phase of a round:
//
//                     Running             Stopping          WorkDone         Decided
//   own reason        tell all: Stopping  one more cause    -                -
//   reason of a pod   tell all: Stopping  one more cause    -                -
//   pod lost          tell all: Stopping  no longer awaited remark           next round's business
//   pod out of reach  it is lost          waited for        it is lost       next round's business
//   newcomer          turned away, or     kept for the next as Running       waits in the inbox
//                     kept (elastic)      round
//   work is done      WorkDone            -                 -                -
//   all have ended    verdict: Decided    verdict: Decided  verdict: Decided -
#include "launcher/channel/hub_session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/judge.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

// The first cause of a pod stays; but whoever ends it by a signal ends it, whatever came before.
void take_cause(PodAccount& pod, const StopCause& cause) {
  const bool is_asked = cause.kind == StopCause::Kind::Interrupted;
  if (pod.ending && is_asked) pod.ending->asked_to_end = true;
  if (!pod.cause) pod.cause = cause;
}

std::optional<RefusalMessage> all_are_here() {
  return RefusalMessage{.status = 1,
                        .node = -1,
                        .text =
                            "this job is running already with all its nodes; wait for its end, "
                            "or give this launch a --job_id of its own"};
}

}  // namespace

StopCause pod_lost(int node, const std::string& host, const std::string& why) {
  return {.kind = StopCause::Kind::PodLost,
          .node = node,
          .status = kNodeMissingStatus,
          .text = fmt::format("node {} was lost: {}", host, why),
          .at = EventLoop::Clock::now()};
}

std::string lost_after_work(const std::string& host) {
  return fmt::format("node {} was lost after all workers had finished", host);
}

void HubSession::begin(const Roster& roster, std::map<int, int> members,
                       std::map<int, OfferMessage> spares) {
  round_ = {.mine = static_cast<int>(roster.mine),
            .members = std::move(members),
            .spares = std::move(spares),
            .accounts = open_accounts(roster)};
  for (std::size_t node = 0; node < roster.pods.size(); ++node) {
    round_.awaited.insert(static_cast<int>(node));
    round_.names.push_back(roster.pods[node].name);
  }
}

void HubSession::attend(RoundEvents& who, const RoundTerms& terms) {
  begin_round(who, terms);
  hub_->listen(*this);
}

std::optional<ClockDifference> HubSession::wall_clock_of(int node) const {
  const auto found = std::find_if(round_.members.begin(), round_.members.end(),
                                  [node](const auto& member) { return member.second == node; });
  const auto clock =
      found == round_.members.end() ? std::nullopt : hub_->wall_clock_of(found->first);
  if (!clock) return std::nullopt;
  constexpr double in_ms = 1e-6;
  return ClockDifference{static_cast<double>(clock->first) * in_ms,
                         static_cast<double>(clock->second) * in_ms};
}

void HubSession::on_message(int member, const Message& message) {
  if (round_.phase == Phase::Decided) return;
  const auto found = round_.members.find(member);
  if (found == round_.members.end()) return take_newcomer(member, message);
  const int node = found->second;
  if (const auto* stop = std::get_if<StopMessage>(&message)) {
    take_stop(member, node, stop->cause);
  } else if (const auto* ending = std::get_if<EndingMessage>(&message)) {
    take_ending(member, node, ending->ending);
  } else if (std::holds_alternative<KillMessage>(message)) {
    tell_kill();
    events().on_kill();
  } else {
    events().on_message(node, message);
  }
}

std::map<int, OfferMessage> HubSession::take_spares() { return std::exchange(round_.spares, {}); }

bool HubSession::is_called_off(bool others_may_come) const {
  return std::any_of(hub_->unheard().begin(), hub_->unheard().end(), [&](const Hub::News& news) {
    const auto* const message = std::get_if<Message>(&news.what);
    return message == nullptr ? !others_may_come : std::holds_alternative<RefusalMessage>(*message);
  });
}

void HubSession::call_off(int status, const std::string& why) {
  hub_->send_all(RefusalMessage{.status = status, .node = -1, .text = why});
  hub_->let_members_leave(kLastWord);
}

void HubSession::take_stop(int member, int node, StopCause cause) {
  if (round_.phase == Phase::WorkDone) return;
  cause.node = node;
  const auto now = EventLoop::Clock::now();
  if (const auto clock = hub_->clock_of(member)) {
    cause.at = clock->ours(cause.at);
    account(node).error = clock->error(now);
  } else {
    cause.at = now;
  }
  take_cause(account(node), cause);
  stop_all(cause, node);
}

void HubSession::take_ending(int member, int node, PodEnding ending) {
  ending.own.node = node;
  if (const auto clock = hub_->clock_of(member)) {
    ending.own.at = clock->ours(ending.own.at);
    account(node).error = clock->error(EventLoop::Clock::now());
  }
  account(node).ending = std::move(ending);
  round_.awaited.erase(node);
  decide_when_complete();
}

void HubSession::on_gone(int member, const std::string& why) {
  round_.spares.erase(member);
  const auto found = round_.members.find(member);
  if (found == round_.members.end()) return;
  const int node = found->second;
  round_.lost.push_back(round_.names.at(static_cast<std::size_t>(node)));
  // The next round's business.
  if (round_.phase == Phase::Decided) return;
  round_.members.erase(found);
  round_.awaited.erase(node);
  if (events().on_lost(pod_lost(node, account(node).host, why))) return;
  // Whoever has told its end, or why it stops, may go.
  if (account(node).ending || account(node).cause) return decide_when_complete();
  if (round_.phase == Phase::WorkDone) {
    events().on_remark(lost_after_work(account(node).host));
  } else {
    account(node).cause = pod_lost(node, account(node).host, why);
    stop_all(*account(node).cause, node);
  }
  decide_when_complete();
}

void HubSession::tell_stop(const StopCause& own) {
  if (round_.phase == Phase::WorkDone || round_.phase == Phase::Decided) return;
  take_cause(account(round_.mine), own);
  stop_all(own, round_.mine);
}

void HubSession::stop_all(const StopCause& cause, int but_node) {
  if (std::exchange(round_.phase, Phase::Stopping) != Phase::Running) return;
  if (terms().patience.count() > 0) hub_->hold_places(terms().patience);
  const std::string stop = encode(StopMessage{cause});
  hub_->tell_returning(stop);
  // Also to the one that gave the reason: it knows, but its clock has not been asked for hours.
  for (const auto& [member, node] : round_.members) {
    // Where a round may follow, a short gap of the network is not to cost a node.
    if (hub_->has(member) && !terms().another_may_follow) hub_->hurry(member);
    hub_->ask_clock(member);  // first: the answer may be there before send() returns
    hub_->send_encoded(member, stop);
  }
  if (but_node != round_.mine) events().on_stop(cause);
}

// A reason to stop that came first stays the reason.
void HubSession::work_is_done() {
  if (round_.phase == Phase::Running) round_.phase = Phase::WorkDone;
}

void HubSession::tell_kill() {
  hub_->tell_returning(encode(KillMessage{}));
  tell(KillMessage{});
}

void HubSession::tell(const Message& message) {
  const std::string encoded = encode(message);
  for (const auto& member : round_.members) {
    if (std::holds_alternative<CheckGoMessage>(message)) hub_->ask_clock(member.first);
    hub_->send_encoded(member.first, encoded);
  }
}

void HubSession::tell_ending(const PodEnding& mine) {
  account(round_.mine).ending = mine;
  round_.awaited.erase(round_.mine);
  decide_when_complete();
}

void HubSession::decide_when_complete() {
  if (round_.awaited.empty()) decide_now();
}

void HubSession::decide_now() {
  if (round_.phase == Phase::Decided) return;
  const bool is_work_done = std::exchange(round_.phase, Phase::Decided) == Phase::WorkDone;
  const JobVerdict verdict = with_next_round(
      judge(is_work_done ? without_causes(round_.accounts) : round_.accounts), false);
  send_verdict(verdict);
  // What comes from now on is for the next gathering.
  if (verdict.next) hub_->stop_listening();
  events().on_verdict(verdict);
}

// The whole report goes where it is shown: to the node of rank 0 and to the one that failed. The
// others learn who was first.
void HubSession::send_verdict(const JobVerdict& verdict) {
  VerdictMessage brief{verdict};
  brief.verdict.hint.reset();
  std::vector<FailureRecord>& failures = brief.verdict.failures;
  if (failures.size() > 1) failures.erase(failures.begin() + 1, failures.end());
  for (FailureRecord& first : failures) first.log_excerpt.clear();
  const std::string for_most = encode(brief);
  const std::string whole = encode(VerdictMessage{verdict});
  hub_->forget_what_to_tell();
  hub_->tell_returning(whole);
  for (const auto& [member, node] : round_.members) {
    const bool shows_it = node == 0 || node == verdict.first.node;
    hub_->send_encoded(member, shows_it ? whole : for_most);
  }
  if (verdict.next) return;
  const RefusalMessage not_needed{
      .status = 0, .node = -1, .text = "the job has ended; this node was not needed"};
  const RefusalMessage too_late{
      .status = 1,
      .node = -1,
      .text = "the job ended while this node was on its way back; start it again on all nodes"};
  for (const auto& [member, offer] : round_.spares) {
    hub_->send(member, terms().nodes_may_join ? not_needed : too_late);
  }
}

void HubSession::close() {
  round_.phase = Phase::Decided;
  hub_->let_members_leave(kLastWord);
}

// Who connects to the hub of a running round: turned away, kept for the next one, or back.
void HubSession::take_newcomer(int member, const Message& message) {
  const auto* offer = std::get_if<OfferMessage>(&message);
  if (offer == nullptr) return;
  if (offer->terms.other_command) return hub_->drop(member);  // it looks on for its own hub
  const int nodes = static_cast<int>(round_.accounts.size());
  round_.spares.insert_or_assign(member, *offer);
  // The round ends, and there may be another: then whoever was lost may be back.
  const bool may_be_needed = terms().another_may_follow && round_.phase == Phase::Stopping;
  if (!terms().nodes_may_join && may_be_needed)
    return hub_->send(member, WaitingMessage{1, nodes, {}});
  const auto refusal = terms().nodes_may_join ? events().on_newcomer(*offer) : all_are_here();
  if (refusal) round_.spares.erase(member);
  hub_->send(member, refusal ? Message(*refusal) : Message(WaitingMessage{0, nodes, {}}));
}

void HubSession::tell_of_absence(int member, const std::string* why) {
  const auto found = round_.members.find(member);
  if (found == round_.members.end()) return;
  const std::string& host = account(found->second).host;
  events().on_remark(why == nullptr
                         ? fmt::format("node {} is back", host)
                         : fmt::format("node {} is out of reach: {}; waiting for it", host, *why));
}

std::vector<OfferMessage> HubSession::newcomers() const {
  std::vector<OfferMessage> offers;
  for (const auto& [member, offer] : round_.spares) {
    if (hub_->has(member)) offers.push_back(offer);
  }
  return offers;
}

}  // namespace paddle_launch
