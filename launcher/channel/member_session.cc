// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/member_session.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/hub_session.h"
#include "launcher/channel/judge.h"
#include "launcher/channel/message.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTimeToReport{5};

}  // namespace

MemberSession::MemberSession(std::unique_ptr<Link> link, const Roster& roster, int hub,
                             std::vector<Message> early, std::unique_ptr<WayBack> way_back)
    : link_(std::move(link)),
      mine_(static_cast<int>(roster.mine)),
      hub_(hub),
      accounts_(open_accounts(roster)),
      early_(std::move(early)),
      way_back_(std::move(way_back)) {
  link_->set_events({.proved = [] {},
                     .message = [this](Message message) { early_.push_back(std::move(message)); },
                     .ended = [this](const LinkEnd& end) { lost_before_listening_ = end.why; }});
}

void MemberSession::attend(RoundEvents& who, const RoundTerms& terms) {
  begin_round(who, terms);
  listen();
  for (Message& message : std::exchange(early_, {})) take(std::move(message));
  if (lost_before_listening_) lose_hub(*std::exchange(lost_before_listening_, std::nullopt));
}

void MemberSession::listen() {
  link_->set_events({.proved = [] {},
                     .message = [this](Message message) { take(std::move(message)); },
                     .ended = [this](const LinkEnd& end) { lose_hub(end.why); }});
}

void MemberSession::take(Message message) {
  if (hub_decided_) return for_the_next_.push_back(std::move(message));
  if (auto* stop = std::get_if<StopMessage>(&message)) return take_stop(stop->cause);
  if (std::holds_alternative<KillMessage>(message)) return events().on_kill();
  if (auto* verdict = std::get_if<VerdictMessage>(&message)) return take_verdict(verdict->verdict);
  // Whoever came back was too late.
  if (auto* refusal = std::get_if<RefusalMessage>(&message)) {
    way_back_.reset();
    shutdown(link_->fd(), SHUT_RDWR);
    return lose_hub_for_good(refusal->text);
  }
  if (std::holds_alternative<CheckGoMessage>(message)) link_->send(clocks_now());
  events().on_message(hub_, message);
}

void MemberSession::take_verdict(const JobVerdict& verdict) {
  failed_ = verdict.first.status != 0;
  hub_decided_ = !decided_;
  const bool is_last = !verdict.next;
  if (!std::exchange(decided_, true)) events().on_verdict(verdict);
  // The hub stays until everybody has the verdict: it need not wait for what we still print.
  if (is_last) shutdown(link_->fd(), SHUT_WR);
}

bool MemberSession::begin_stopping() {
  if (std::exchange(stopping_, true)) return false;
  stopping_since_ = EventLoop::Clock::now();
  return true;
}

void MemberSession::take_stop(const StopCause& cause) {
  if (!terms().another_may_follow) link_->hurry();
  link_->send(clocks_now());
  // The hub's clock is not ours: the moment counts from when we heard of it.
  StopCause heard = cause;
  heard.at = EventLoop::Clock::now();
  if (done_) return;
  const auto node = static_cast<std::size_t>(cause.node);
  const bool is_news = node < accounts_.size() && cause.node != mine_ && !accounts_[node].cause;
  if (is_news) accounts_[node].cause = heard;
  if (begin_stopping()) events().on_stop(heard);
}

void MemberSession::lose_hub(const std::string& why) {
  if (decided_) return;
  may_come_back() ? come_back(why) : lose_hub_for_good(why);
}

void MemberSession::lose_hub_for_good(const std::string& why) {
  if (decided_) return;
  PodAccount& hub = account(hub_);
  const std::string name = fmt::format("{}, which holds the job together,", hub.host);
  if (done_) {
    events().on_remark(lost_after_work(name));
  } else {
    const StopCause cause = pod_lost(hub_, name, why);
    if (!hub.cause) hub.cause = cause;
    if (begin_stopping()) events().on_stop(cause);
  }
  if (account(mine_).ending) decide_now();
}

void MemberSession::tell_stop(const StopCause& own) {
  if (done_) return;
  begin_stopping();
  if (!terms().another_may_follow) link_->hurry();
  account(mine_).cause = own;
  link_->send(StopMessage{own});
}

void MemberSession::tell_kill() {
  killed_ = true;
  link_->send(KillMessage{});
}

void MemberSession::tell(const Message& message) { link_->send(message); }

void MemberSession::tell_ending(const PodEnding& mine) {
  account(mine_).ending = mine;
  link_->send(EndingMessage{mine});
  const bool is_lost = link_->fd() < 0 && !(way_back_ && way_back_->is_under_way());
  if (is_lost) decide_now();
}

// Only of those does one know anything: the others are neither silent nor good, but with the hub.
void MemberSession::decide_now() {
  if (std::exchange(decided_, true)) return;
  if (way_back_) way_back_->stop();
  JobVerdict verdict = judge(done_ ? without_causes(accounts_) : accounts_);
  verdict.silent.clear();
  const PodAccount& hub = account(hub_);
  if (!hub.cause) verdict.silent.push_back(hub.host);
  events().on_verdict(with_next_round(std::move(verdict), true));
}

bool MemberSession::may_come_back() const {
  return way_back_ && stopping_ && !done_ &&
         EventLoop::Clock::now() < stopping_since_ + terms().patience;
}

void MemberSession::come_back(const std::string& why) {
  events().on_remark(fmt::format(
      "node {}, which holds the job together, is out of reach: {}; trying to reach it again",
      account(hub_).host, why));
  way_back_->begin(stopping_since_ + terms().patience,
                   {.found = [this](std::unique_ptr<Link> link) { say_again(std::move(link)); },
                    .failed = [this, why] { lose_hub_for_good(why); }});
}

// What the hub has heard already does no harm.
void MemberSession::say_again(std::unique_ptr<Link> link) {
  link_ = std::move(link);
  listen();
  const PodAccount& mine = account(mine_);
  if (mine.cause) link_->send(StopMessage{*mine.cause});
  if (killed_) link_->send(KillMessage{});
  if (mine.ending) link_->send(EndingMessage{*mine.ending});
}

Connections MemberSession::release() {
  Connections left;
  if (!hub_decided_ || link_->fd() < 0) return left;
  left.link = std::move(link_);
  for (Message& message : for_the_next_) left.news->messages.emplace_back(0, std::move(message));
  listen_for_the_next(left);
  return left;
}

// mpirun throws away what is still to be printed once one of us has ended with a failure.
void MemberSession::close() {
  if (!failed_) return;
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
