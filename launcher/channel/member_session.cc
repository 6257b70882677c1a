// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md tells what pods say to each other. What happens in which phase of a round:
//
//                     Running             Stopping             WorkDone            Decided
//   own reason        tell hub: Stopping  tell hub             -                   tell hub
//   hub's reason      Stopping            a cause more         -                   -
//   hub lost          Stopping            way back, then lost  remark              next round's
//   business own end, no hub   own verdict         own verdict          own verdict         - work
//   is done      WorkDone            WorkDone             -                   - hub's verdict
//   Decided             Decided              Decided             too late
#include "launcher/channel/member_session.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/hub.h"
#include "launcher/channel/hub_session.h"
#include "launcher/channel/judge.h"
#include "launcher/channel/message.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTimeToReport{5};

}  // namespace

void MemberSession::begin(const Roster& roster, int hub, const Ticket& ticket) {
  round_ = {.mine = static_cast<int>(roster.mine), .hub = hub, .accounts = open_accounts(roster)};
  if (!ticket.key.empty()) {
    round_.way_back = std::make_unique<WayBack>(loop_, *link_, ticket, keep_alive_);
  }
}

void MemberSession::attend(RoundEvents& who, const RoundTerms& terms) {
  begin_round(who, terms);
  listen();
}

void MemberSession::listen() {
  link_->listen([this](Message message) { take(std::move(message)); },
                [this](const LinkEnd& end) { lose_hub(end.why); });
}

void MemberSession::take(Message message) {
  if (auto* stop = std::get_if<StopMessage>(&message)) return take_stop(stop->cause);
  if (std::holds_alternative<KillMessage>(message)) return events().on_kill();
  if (auto* verdict = std::get_if<VerdictMessage>(&message)) return take_verdict(verdict->verdict);
  // Whoever came back was too late.
  if (auto* refusal = std::get_if<RefusalMessage>(&message)) {
    round_.way_back.reset();
    shutdown(link_->fd(), SHUT_RDWR);
    return lose_hub_for_good(refusal->text);
  }
  if (std::holds_alternative<CheckGoMessage>(message)) link_->send(clocks_now());
  events().on_message(round_.hub, message);
}

void MemberSession::take_verdict(const JobVerdict& verdict) {
  round_.failed = verdict.first.status != 0;
  round_.hub_decided = round_.phase != Phase::Decided;
  const bool is_last = !verdict.next;
  // What comes from now on is for the next gathering.
  if (round_.hub_decided && !is_last) link_->stop_listening();
  round_.phase = Phase::Decided;
  if (round_.hub_decided) events().on_verdict(verdict);
  // The hub stays until everybody has the verdict: it need not wait for what we still print.
  if (is_last) shutdown(link_->fd(), SHUT_WR);
}

bool MemberSession::begin_stopping() {
  if (round_.phase != Phase::Running) return false;
  round_.phase = Phase::Stopping;
  round_.stopping_since = EventLoop::Clock::now();
  return true;
}

void MemberSession::take_stop(const StopCause& cause) {
  if (!terms().another_may_follow) link_->hurry();
  link_->send(clocks_now());
  // The hub's clock is not ours: the moment counts from when we heard of it.
  StopCause heard = cause;
  heard.at = EventLoop::Clock::now();
  if (round_.phase == Phase::WorkDone) return;
  const auto node = static_cast<std::size_t>(cause.node);
  const bool is_news =
      node < round_.accounts.size() && cause.node != round_.mine && !round_.accounts[node].cause;
  if (is_news) round_.accounts[node].cause = heard;
  if (begin_stopping()) events().on_stop(heard);
}

void MemberSession::lose_hub(const std::string& why) {
  if (round_.phase == Phase::Decided) return;
  may_come_back() ? come_back(why) : lose_hub_for_good(why);
}

void MemberSession::lose_hub_for_good(const std::string& why) {
  if (round_.phase == Phase::Decided) return;
  PodAccount& hub = account(round_.hub);
  const std::string name = fmt::format("{}, which holds the job together,", hub.host);
  if (round_.phase == Phase::WorkDone) {
    events().on_remark(lost_after_work(name));
  } else {
    const StopCause cause = pod_lost(round_.hub, name, why);
    if (!hub.cause) hub.cause = cause;
    if (begin_stopping()) events().on_stop(cause);
  }
  if (account(round_.mine).ending) decide_now();
}

void MemberSession::tell_stop(const StopCause& own) {
  if (round_.phase == Phase::WorkDone) return;
  begin_stopping();
  if (!terms().another_may_follow) link_->hurry();
  account(round_.mine).cause = own;
  link_->send(StopMessage{own});
}

// The hub's word counts, also after a reason to stop of our own that crossed it.
void MemberSession::work_is_done() {
  if (round_.phase != Phase::Decided) round_.phase = Phase::WorkDone;
}

void MemberSession::tell_kill() {
  round_.killed = true;
  link_->send(KillMessage{});
}

void MemberSession::tell(const Message& message) { link_->send(message); }

void MemberSession::tell_ending(const PodEnding& mine) {
  account(round_.mine).ending = mine;
  link_->send(EndingMessage{mine});
  const bool is_lost = link_->fd() < 0 && !(round_.way_back && round_.way_back->is_under_way());
  if (is_lost) decide_now();
}

// Only of those does one know anything: the others are neither silent nor good, but with the hub.
void MemberSession::decide_now() {
  if (round_.phase == Phase::Decided) return;
  const bool is_work_done = std::exchange(round_.phase, Phase::Decided) == Phase::WorkDone;
  if (round_.way_back) round_.way_back->stop();
  JobVerdict verdict = judge(is_work_done ? without_causes(round_.accounts) : round_.accounts);
  verdict.silent.clear();
  const PodAccount& hub = account(round_.hub);
  if (!hub.cause) verdict.silent.push_back(hub.host);
  events().on_verdict(with_next_round(std::move(verdict), true));
}

bool MemberSession::may_come_back() const {
  return round_.way_back && round_.phase == Phase::Stopping &&
         EventLoop::Clock::now() < round_.stopping_since + terms().patience;
}

void MemberSession::come_back(const std::string& why) {
  events().on_remark(fmt::format(
      "node {}, which holds the job together, is out of reach: {}; trying to reach it again",
      account(round_.hub).host, why));
  round_.way_back->begin(
      round_.stopping_since + terms().patience,
      {.found = [this](std::unique_ptr<Link> link) { say_again(std::move(link)); },
       .failed = [this, why] { lose_hub_for_good(why); }});
}

// What the hub has heard already does no harm.
void MemberSession::say_again(std::unique_ptr<Link> link) {
  link_ = std::move(link);
  listen();
  const PodAccount& mine = account(round_.mine);
  if (mine.cause) link_->send(StopMessage{*mine.cause});
  if (round_.killed) link_->send(KillMessage{});
  if (mine.ending) link_->send(EndingMessage{*mine.ending});
}

bool MemberSession::is_called_off(bool /*others_may_come*/) const {
  return std::any_of(link_->unheard().begin(), link_->unheard().end(), [](const Link::News& news) {
    const auto* const message = std::get_if<Message>(&news);
    return message == nullptr || std::holds_alternative<RefusalMessage>(*message);
  });
}

void MemberSession::call_off(int status, const std::string& why) {
  link_->send(RefusalMessage{.status = status, .node = -1, .text = why});
  // Closing at once could throw away what is still on its way.
  run_until(loop_, kLastWord, [this] { return link_->fd() < 0 || is_called_off(true); });
}

// mpirun throws away what is still to be printed once one of us has ended with a failure.
void MemberSession::close() {
  if (!round_.failed) return;
  const auto deadline = EventLoop::Clock::now() + kTimeToReport;
  while (link_->fd() >= 0) {
    pollfd hub{link_->fd(), POLLIN, 0};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - EventLoop::Clock::now()).count();
    if (left <= 0 || poll(&hub, 1, static_cast<int>(left)) == 0) return;
    std::array<char, 4096> ignored{};
    const ssize_t size = recv(hub.fd, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return;
  }
}

}  // namespace paddle_launch
