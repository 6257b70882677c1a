// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/joining.h"

#include <utility>

#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/give_roster.h"
#include "launcher/tell/waiting.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTick{1};

}  // namespace

Joining::Joining(EventLoop& loop, JoiningSettings settings, MemberSession& session,
                 OfferMessage mine, Narrator& narrator)
    : loop_(loop),
      settings_(std::move(settings)),
      session_(session),
      link_(session.link()),
      mine_(std::move(mine)),
      narrator_(narrator),
      ticking_(loop),
      started_(settings_.began.value_or(EventLoop::Clock::now())),
      last_word_(EventLoop::Clock::now()) {}

std::optional<Gathered> Joining::run() {
  listen();  // what the hub has said since the last round, and whether it is gone
  if (!refusal_ && lost_.empty() && link_.fd() < 0) give_up("it was lost between two rounds");
  if (!refusal_ && !lost_.empty()) return std::nullopt;
  if (!refusal_) {
    if (mine_.offer.host.empty()) {
      mine_.offer.host = format_ipv4(local_address(link_.fd()).value_or(0));
    }
    set_keep_alive(link_.fd(), settings_.keep_alive);  // it was hurried at the end of the round
    link_.send(clocks_now());
    link_.send(mine_);
    ticking_.set(kTick, [this] { tick(); });
  }
  try {
    loop_.run_until([this] { return roster_ || refusal_ || is_late_ || !lost_.empty(); });
  } catch (const StoppedBySignal& stopped) {
    if (lost_.empty() && !settings_.began) say_good_bye(refusal_because(stopped, mine_));
    throw;
  }
  if (refusal_ && settings_.hub_tells_for_all) throw AlreadyTold{refusal_->status};
  if (refusal_) throw_refusal(*refusal_);
  if (is_late_) throw NodeMissing(never_came(facts_));
  if (!roster_) return std::nullopt;
  return take_roster();
}

Gathered Joining::take_roster() {
  auto roster = read_roster(*roster_, mine_.terms.ips, mine_.offer);
  if (!roster) {
    throw LaunchError(
        "the node that holds the job together sent a list of nodes that cannot be read; install "
        "the same paddle-launch on all nodes");
  }
  roster->node_of = settings_.node_of;
  session_.begin(*roster, roster_->hub, roster_->ticket);
  return {.roster = std::move(*roster),
          .warnings = std::move(roster_->warnings),
          .payload = std::move(roster_->payload),
          .round = roster_->round};
}

void Joining::listen() {
  link_.listen([this](const Message& message) { on_message(message); },
               [this](const LinkEnd& end) { give_up(end.why); });
}

// Closing at once could throw away what is still on its way: the hub answers, or closes.
void Joining::say_good_bye(const RefusalMessage& refusal) {
  ticking_.stop();
  link_.send(refusal);
  Alarm patience(loop_);
  patience.set(kLastWord, [this] { give_up("it does not answer"); });
  loop_.run_until([this] { return refusal_ || !lost_.empty(); });
}

void Joining::on_message(const Message& message) {
  last_word_ = EventLoop::Clock::now();
  if (const auto* waiting = std::get_if<WaitingMessage>(&message)) {
    facts_.missing = waiting->missing;
    facts_.nodes = waiting->nodes;
    facts_.names = waiting->names;
    is_spare_ = is_spare_ || waiting->missing == 0;
  } else if (const auto* refusal = std::get_if<RefusalMessage>(&message)) {
    if (!refusal_) refusal_ = *refusal;
  } else if (const auto* roster = std::get_if<RosterMessage>(&message)) {
    roster_ = *roster;
    // What came in one breath with it is for the round.
    link_.stop_listening();
  }
}

void Joining::tick() {
  ticking_.set(kTick, [this] { tick(); });
  const auto now = EventLoop::Clock::now();
  facts_.waited = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
  if (settings_.began && !mine_.terms.problem.empty()) narrator_.problem(mine_.terms.problem);
  if (settings_.began || facts_.missing > 0) narrator_.waiting(facts_);
  if (is_spare_ && !std::exchange(told_spare_, true)) {
    narrator_.remark("the job is running; this node waits for a place in it");
  }
  if (settings_.began) {
    is_late_ = now - started_ >= settings_.timeout;
  } else if (!is_spare_ && now - last_word_ >= settings_.timeout) {
    give_up("it does not say anything");
  }
}

void Joining::give_up(std::string why) { lost_ = std::move(why); }

}  // namespace paddle_launch
