// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/hub_channel.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/open_accounts.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

// How long members may take to fetch the last word.
constexpr std::chrono::seconds kLastWord{2};

}  // namespace

StopCause pod_lost(int node, const std::string& host, const std::string& why) {
  return {.kind = StopCause::Kind::PodLost,
          .node = node,
          .status = kNodeMissingStatus,
          .text = fmt::format("node {} was lost: {}", host,
                              why == kClosedByOther ? "its launcher ended without a word" : why),
          .at = EventLoop::Clock::now()};
}

std::string lost_after_work(const std::string& host) {
  return fmt::format("node {} was lost after all workers had finished", host);
}

HubChannel::HubChannel(EventLoop& loop, std::unique_ptr<Hub> hub, const Roster& roster,
                       std::map<int, int> members)
    : loop_(loop),
      hub_(std::move(hub)),
      mine_(static_cast<int>(roster.mine)),
      members_(std::move(members)),
      accounts_(open_accounts(roster)) {
  for (int node = 0; node < static_cast<int>(accounts_.size()); ++node) awaited_.insert(node);
  // Nobody listens until the round begins; a quick member may have ended its part by then.
  hub_->set_events(
      {.message = [this](int member,
                         Message message) { early_.emplace_back(member, std::move(message)); },
       .gone = {},
       .remark = {}});
}

void HubChannel::set_events(Events events) {
  events_ = std::move(events);
  hub_->set_events(
      {.message = [this](int member, Message message) { take(member, std::move(message)); },
       .gone = [this](int member, const std::string& why) { lose(member, why); },
       .remark = events_.remark});
  for (auto& [member, message] : std::exchange(early_, {})) take(member, std::move(message));
  // Whoever went between the roster and now.
  std::vector<int> gone;
  for (const auto& [member, node] : members_) {
    if (!hub_->has(member)) gone.push_back(member);
  }
  for (const int member : gone) lose(member, "it went before the start");
}

std::optional<ClockDifference> HubChannel::wall_clock_of(int node) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [node](const auto& member) { return member.second == node; });
  const auto clock = found == members_.end() ? std::nullopt : hub_->wall_clock_of(found->first);
  if (!clock) return std::nullopt;
  constexpr double in_ms = 1e-6;
  return ClockDifference{static_cast<double>(clock->first) * in_ms,
                         static_cast<double>(clock->second) * in_ms};
}

void HubChannel::take(int member, Message message) {
  const auto found = members_.find(member);
  if (found == members_.end()) return refuse_latecomer(member);
  const int node = found->second;
  if (auto* stop = std::get_if<StopMessage>(&message)) {
    take_stop(member, node, std::move(stop->cause));
  } else if (auto* ending = std::get_if<EndingMessage>(&message)) {
    take_ending(member, node, std::move(ending->ending));
  } else if (std::holds_alternative<KillMessage>(message)) {
    tell_kill();
    events_.kill();
  } else if (events_.other) {
    events_.other(node, message);
  }
}

void HubChannel::refuse_latecomer(int member) {
  hub_->send(member,
             RefusalMessage{.status = 1,
                            .node = -1,
                            .text = "this job is running already with all its nodes; wait for its "
                                    "end, or give this launch a --job_id of its own"});
}

void HubChannel::take_stop(int member, int node, StopCause cause) {
  if (done_) return;
  cause.node = node;
  const auto now = EventLoop::Clock::now();
  if (const auto clock = hub_->clock_of(member)) {
    cause.at = clock->ours(cause.at);
    account(node).error = clock->error(now);
  } else {
    cause.at = now;
  }
  if (!account(node).cause) account(node).cause = cause;
  stop_all(cause, node);
}

void HubChannel::take_ending(int member, int node, PodEnding ending) {
  ending.own.node = node;
  if (const auto clock = hub_->clock_of(member)) {
    ending.own.at = clock->ours(ending.own.at);
    account(node).error = clock->error(EventLoop::Clock::now());
  }
  account(node).ending = std::move(ending);
  awaited_.erase(node);
  decide_when_complete();
}

void HubChannel::lose(int member, const std::string& why) {
  const auto found = members_.find(member);
  if (found == members_.end()) return;
  const int node = found->second;
  members_.erase(found);
  awaited_.erase(node);
  // Whoever has told its end, or why it stops, may go.
  if (decided_ || account(node).ending || account(node).cause) return decide_when_complete();
  if (done_) {
    if (events_.remark) events_.remark(lost_after_work(account(node).host));
  } else {
    account(node).cause = pod_lost(node, account(node).host, why);
    stop_all(*account(node).cause, node);
  }
  decide_when_complete();
}

void HubChannel::tell_stop(const StopCause& own) {
  if (done_) return;
  if (!account(mine_).cause) account(mine_).cause = own;
  stop_all(own, mine_);
}

void HubChannel::stop_all(const StopCause& cause, int but_node) {
  if (std::exchange(stopping_, true)) return;
  for (const auto& [member, node] : members_) {
    if (hub_->has(member)) hub_->hurry(member);
    if (node == but_node) continue;
    hub_->ask_clock(member);  // first: the answer may be there before send() returns
    hub_->send(member, StopMessage{cause});
  }
  if (but_node != mine_) events_.stop(cause);
}

// A reason to stop that came first stays the reason.
void HubChannel::work_is_done() { done_ = !stopping_; }

void HubChannel::tell_kill() { tell(KillMessage{}); }

void HubChannel::tell(const Message& message) {
  for (const auto& member : members_) {
    if (std::holds_alternative<CheckGoMessage>(message)) hub_->ask_clock(member.first);
    hub_->send(member.first, message);
  }
}

void HubChannel::tell_ending(const PodEnding& mine) {
  account(mine_).ending = mine;
  awaited_.erase(mine_);
  decide_when_complete();
}

void HubChannel::decide_when_complete() {
  if (awaited_.empty()) decide_now();
}

void HubChannel::decide_now() {
  if (std::exchange(decided_, true)) return;
  const JobVerdict verdict = judge(done_ ? without_causes(accounts_) : accounts_);
  send_verdict(verdict);
  events_.verdict(verdict);
}

// The whole report goes where it is shown: to the node of rank 0 and to the one that failed.
void HubChannel::send_verdict(const JobVerdict& verdict) {
  VerdictMessage brief{verdict};
  brief.verdict.suspicion.reset();
  brief.verdict.failures.clear();
  for (const auto& [member, node] : members_) {
    const bool shows_it = node == 0 || node == verdict.first.node;
    hub_->send(member, shows_it ? Message(VerdictMessage{verdict}) : Message(brief));
  }
}

void HubChannel::close() {
  decided_ = true;
  if (!hub_->has_members()) return;
  // Closing at once could throw away what is still on its way: the members close first.
  hub_->set_events({.message = [](int, const Message&) {},
                    .gone =
                        [this](int, const std::string&) {
                          if (!hub_->has_members()) loop_.stop();
                        },
                    .remark = {}});
  const auto timer = loop_.after(kLastWord, [this] { loop_.stop(); });
  loop_.run();
  if (!hub_->has_members()) loop_.cancel(timer);
}

}  // namespace paddle_launch
