// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/member_meeting.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/member_session.h"
#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/os/clock.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/give_roster.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{1000};

std::string hub_text(const TcpSettings& settings) {
  const int first = settings.ports.front();
  const int last = settings.ports.back();
  return first == last ? fmt::format("{}:{}", settings.hub_host, first)
                       : fmt::format("{}:{}-{}", settings.hub_host, first, last);
}

}  // namespace

MemberMeeting::MemberMeeting(EventLoop& loop, const TcpSettings& settings, JobTerms terms,
                             PodOffer mine)
    : loop_(loop),
      settings_(settings),
      terms_(std::move(terms)),
      mine_(std::move(mine)),
      pause_(kFirstPause),
      ticking_(loop),
      retry_(loop),
      started_(EventLoop::Clock::now()),
      others_(settings.identity.greeting.tag) {
  facts_.nodes = terms_.nodes;
  facts_.hub = hub_text(settings_);
}

MemberMeeting::~MemberMeeting() { end_lookup(); }

void MemberMeeting::end_lookup() {
  if (lookup_) loop_.forget(lookup_->fd());
  lookup_.reset();
}

Met MemberMeeting::run() {
  ticking_.set(kTick, [this] { tick(); });
  look_up_hub();
  loop_.run_until([this] { return refusal_ || roster_; });
  if (refusal_ && link_ && settings_.hub_tells_for_all) throw AlreadyTold{refusal_->status};
  if (refusal_) throw_refusal(*refusal_);
  roster_->node_of = settings_.node_of;
  auto way_back = std::make_unique<WayBack>(loop_, *link_, ticket_, settings_.identity.keep_alive);
  auto channel = std::make_unique<MemberSession>(std::move(link_), *roster_, hub_,
                                                 std::move(after_roster_), std::move(way_back));
  return {.roster = std::move(*roster_),
          .channel = std::move(channel),
          .warnings = std::move(warnings_),
          .payload = std::move(payload_),
          .round = round_};
}

// Each time anew: in many clusters a name is known only once its node is up.
void MemberMeeting::look_up_hub() {
  if (!settings_.hub_addresses.empty()) return dial(settings_.hub_addresses);
  lookup_ = std::make_unique<NameLookup>(settings_.hub_host);
  loop_.on_readable(lookup_->fd(), [this] {
    const std::vector<std::uint32_t> addresses = lookup_->addresses();
    const std::string problem = lookup_->problem();
    end_lookup();
    if (addresses.empty()) return try_again("its name is not known: " + problem);
    dial(addresses);
  });
}

void MemberMeeting::dial(const std::vector<std::uint32_t>& addresses) {
  std::vector<DialTarget> targets;
  for (const std::uint32_t address : addresses) {
    for (const int port : settings_.ports) targets.push_back({address, port});
  }
  dialer_ = std::make_unique<Dialer>(
      loop_, settings_.identity, targets, settings_.from,
      Dialer::Events{.found = [this](std::unique_ptr<Link> link) { joined(std::move(link)); },
                     .failed = [this](const DialFailure& failure) { failed(failure); }});
}

void MemberMeeting::failed(const DialFailure& failure) {
  const std::string why = failure.why;
  others_.forget();
  for (const Greeting& greeting : failure.other_jobs) others_.met(greeting, settings_.hub_host);
  others_.tell(facts_);
  dialer_.reset();
  try_again(why);
}

void MemberMeeting::try_again(const std::string& why) {
  facts_.last_try = why;
  facts_.hub = hub_text(settings_);
  // Thousands may have lost the hub, or begun, at one moment: they do not all ask again at another.
  retry_.set(spread(pause_), [this] { look_up_hub(); });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void MemberMeeting::joined(std::unique_ptr<Link> link) {
  link_ = std::move(link);
  dialer_.reset();
  pause_ = kFirstPause;
  facts_.hub.clear();
  facts_.last_try.clear();
  others_.forget();
  others_.tell(facts_);
  facts_.nodes = 0;  // the hub will tell
  if (mine_.host.empty()) mine_.host = format_ipv4(local_address(link_->fd()).value_or(0));
  link_->set_events({.proved = [] {},
                     .message = [this](const Message& message) { take(message); },
                     .ended =
                         [this](const LinkEnd& end) {
                           link_.reset();
                           try_again(end.why);
                         }});
  link_->send(clocks_now());
  link_->send(offer_message(terms_, mine_));
}

void MemberMeeting::take(const Message& message) {
  if (roster_) return after_roster_.push_back(message);
  if (const auto* waiting = std::get_if<WaitingMessage>(&message)) {
    facts_.missing = waiting->missing;
    facts_.nodes = waiting->nodes;
    facts_.names = waiting->names;
  } else if (const auto* refusal = std::get_if<RefusalMessage>(&message)) {
    refusal_ = *refusal;
  } else if (const auto* roster = std::get_if<RosterMessage>(&message)) {
    take_roster(*roster);
  }
}

void MemberMeeting::take_roster(const RosterMessage& message) {
  roster_ = read_roster(message, terms_.ips, mine_);
  hub_ = message.hub;
  if (!roster_) {
    refusal_ =
        RefusalMessage{.status = 1,
                       .node = -1,
                       .text = fmt::format("the first node, {}, sent a list of nodes that cannot "
                                           "be read; install the same paddle-launch on all nodes",
                                           hub_text(settings_))};
    return;
  }
  warnings_ = message.warnings;
  payload_ = message.payload;
  round_ = message.round;
  ticket_ = message.ticket;
}

void MemberMeeting::tick() {
  ticking_.set(kTick, [this] { tick(); });
  const auto waited = EventLoop::Clock::now() - started_;
  facts_.waited = std::chrono::duration_cast<std::chrono::seconds>(waited);
  // Who has joined leaves the end of patience to the hub, which knows who is missing.
  const auto patience = settings_.timeout + (link_ ? kPatienceWithHub : std::chrono::seconds(0));
  if (!terms_.problem.empty() && settings_.problem && !std::exchange(told_problem_, true)) {
    settings_.problem(terms_.problem);
  }
  if (waited < patience) {
    if (settings_.waiting) settings_.waiting(facts_);
    return;
  }
  refusal_ = RefusalMessage{
      .status = kNodeMissingStatus, .node = -1, .text = settings_.never_came(facts_)};
}

}  // namespace paddle_launch
