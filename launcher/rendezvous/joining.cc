// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/joining.h"

#include <utility>

#include "launcher/channel/member_session.h"
#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/give_roster.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTick{1};

}  // namespace

Joining::Joining(EventLoop& loop, JoiningSettings settings, Connections connections,
                 OfferMessage mine)
    : loop_(loop),
      settings_(std::move(settings)),
      link_(std::move(connections.link)),
      news_(std::move(connections.news)),
      mine_(std::move(mine)),
      ticking_(loop),
      started_(EventLoop::Clock::now()),
      last_word_(started_) {}

std::optional<Met> Joining::run() {
  for (const auto& [member, message] : std::exchange(news_->messages, {})) take(message);
  if (refusal_) throw_refusal(*refusal_);
  if (link_->fd() < 0) {
    give_up(news_->hub_is_gone.empty() ? "it was lost between two rounds" : news_->hub_is_gone);
  }
  if (!lost_.empty()) return std::nullopt;
  if (mine_.offer.host.empty()) {
    mine_.offer.host = format_ipv4(local_address(link_->fd()).value_or(0));
  }
  link_->set_events({.proved = [] {},
                     .message = [this](const Message& message) { take(message); },
                     .ended = [this](const LinkEnd& end) { give_up(end.why); }});
  set_keep_alive(link_->fd(), settings_.keep_alive);  // it was hurried at the end of the round
  link_->send(clocks_now());
  link_->send(mine_);
  ticking_.set(kTick, [this] { tick(); });
  try {
    loop_.run_until([this] { return roster_ || refusal_ || !lost_.empty(); });
  } catch (const StoppedBySignal& stopped) {
    if (lost_.empty()) say_good_bye(refusal_because(stopped, mine_));
    throw;
  }
  if (refusal_) throw_refusal(*refusal_);
  if (!roster_) return std::nullopt;
  auto roster = read_roster(*roster_, mine_.terms.ips, mine_.offer);
  if (!roster) {
    throw LaunchError(
        "the node that holds the job together sent a list of nodes that cannot be read; install "
        "the same paddle-launch on all nodes");
  }
  roster->node_of = settings_.node_of;
  auto way_back = std::make_unique<WayBack>(loop_, *link_, roster_->ticket, settings_.keep_alive);
  auto channel = std::make_unique<MemberSession>(std::move(link_), *roster, roster_->hub,
                                                 std::move(after_roster_), std::move(way_back));
  return Met{.roster = std::move(*roster),
             .channel = std::move(channel),
             .warnings = std::move(roster_->warnings),
             .payload = std::move(roster_->payload),
             .round = roster_->round};
}

// Closing at once could throw away what is still on its way: the hub answers, or closes.
void Joining::say_good_bye(const RefusalMessage& refusal) {
  ticking_.stop();
  link_->send(refusal);
  Alarm patience(loop_);
  patience.set(kLastWord, [this] { give_up("it does not answer"); });
  loop_.run_until([this] { return refusal_ || !lost_.empty(); });
}

void Joining::take(const Message& message) {
  last_word_ = EventLoop::Clock::now();
  if (roster_) return after_roster_.push_back(message);
  if (const auto* waiting = std::get_if<WaitingMessage>(&message)) {
    facts_.missing = waiting->missing;
    facts_.nodes = waiting->nodes;
    facts_.names = waiting->names;
    is_spare_ = is_spare_ || waiting->missing == 0;
  } else if (const auto* refusal = std::get_if<RefusalMessage>(&message)) {
    refusal_ = *refusal;
  } else if (const auto* roster = std::get_if<RosterMessage>(&message)) {
    roster_ = *roster;
  }
}

void Joining::tick() {
  ticking_.set(kTick, [this] { tick(); });
  const auto now = EventLoop::Clock::now();
  facts_.waited = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
  if (facts_.missing > 0 && settings_.waiting) settings_.waiting(facts_);
  if (is_spare_ && settings_.spare) std::exchange(settings_.spare, {})();
  if (!is_spare_ && now - last_word_ >= settings_.timeout) give_up("it does not say anything");
}

void Joining::give_up(std::string why) { lost_ = std::move(why); }

}  // namespace paddle_launch
