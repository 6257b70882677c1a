// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/hub.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

namespace {

constexpr std::size_t kMostStrangers = 128;
constexpr std::size_t kLongestFromMember = 1024 * 1024;
constexpr int kAcceptAtOnce = 64;
// How long a stranger may keep others waiting when there are too many of them.
constexpr std::chrono::seconds kTimeWhenFull{1};
constexpr std::chrono::seconds kRestWithoutDescriptors{1};
constexpr std::chrono::seconds kBetweenRemarks{1};

// A launcher that went elsewhere is no stranger worth a word.
bool is_worth_a_word(const LinkEnd& end, const Handshake& handshake) {
  if (end.greeting == Handshake::State::Goodbye) return false;
  const bool introduced = !handshake.theirs().version.empty();
  return end.greeting != Handshake::State::Going || !introduced;
}

}  // namespace

Hub::Hub(EventLoop& loop, UniqueFd listener, ChannelIdentity identity)
    : loop_(loop),
      listener_(std::move(listener)),
      identity_(std::move(identity)),
      places_held_(loop),
      rest_(loop),
      next_remark_(loop) {
  loop_.on_readable(listener_.get(), [this] { accept_some(); });
}

Hub::~Hub() { loop_.forget(listener_.get()); }

void Hub::listen(Listener& listener) {
  events_ = &listener;
  inbox_.listen([&listener](const News& news) {
    if (const auto* const why = std::get_if<std::string>(&news.what)) {
      return listener.on_gone(news.member, *why);
    }
    listener.on_message(news.member, std::get<Message>(news.what));
  });
}

void Hub::stop_listening() {
  inbox_.stop_listening();
  events_ = &nobody_;
}

void Hub::accept_some() {
  for (int i = 0; i < kAcceptAtOnce && make_room(); ++i) {
    Accepted newcomer = accept_next(listener_.get());
    if (newcomer.socket) {
      peers_[next_id_] = {newcomer.address, newcomer.port};
      admit(std::move(newcomer.socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return rest_from_accepting();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// Out of descriptors: whoever waits in the queue stays there; asking again at once would spin.
void Hub::rest_from_accepting() {
  loop_.forget(listener_.get());
  rest_.set(kRestWithoutDescriptors, [this] { accept_again(); });
  events_->on_remark(
      "no descriptor is left for another connection; trying again in a second (ulimit -n raises "
      "the limit)");
}

// An honest launcher proves itself in milliseconds, but thousands may come at once: they wait in
// the kernel's queue until those before them have proved themselves or had their time.
bool Hub::make_room() {
  if (strangers_.size() < kMostStrangers) return true;
  const auto [oldest, since] = *strangers_.begin();
  const auto age = Clock::now() - since;
  if (age >= kTimeWhenFull) {
    note_stranger(oldest, "too many that have proved nothing");
    drop(oldest);
    return true;
  }
  is_full_ = true;
  loop_.forget(listener_.get());
  rest_.set(std::chrono::ceil<std::chrono::milliseconds>(kTimeWhenFull - age),
            [this] { accept_again(); });
  return false;
}

void Hub::accept_again() {
  is_full_ = false;
  rest_.stop();
  loop_.on_readable(listener_.get(), [this] { accept_some(); });
}

void Hub::forget_stranger(int id) {
  if (strangers_.erase(id) > 0 && is_full_) accept_again();
}

// It may have reset the connection already: then its link ends at once, as any other does.
void Hub::admit(UniqueFd connected) {
  const int id = next_id_++;
  const int fd = connected.get();
  strangers_.emplace(id, Clock::now());
  Handshake handshake(Handshake::Role::Hub, identity_.secret, identity_.greeting);
  try {
    set_no_delay(fd);
    set_keep_alive(fd, identity_.keep_alive);
    links_.emplace(id, std::make_unique<Link>(loop_, std::move(connected), std::move(handshake),
                                              kLongestFromMember, link_events(id)));
  } catch (const std::system_error&) {  // whatever the kernel refuses for it
    loop_.forget(fd);
    drop(id);
  }
}

Link::Events Hub::link_events(int id) {
  return {.proved = [this, id] { forget_stranger(id); },
          .message = [this, id](Message m) { take(id, std::move(m)); },
          .ended = [this, id](const LinkEnd& end) { ended(id, end); }};
}

void Hub::ended(int id, const LinkEnd& end) {
  const bool was_stranger = strangers_.contains(id);
  const bool is_other_job =
      end.greeting == Handshake::State::Goodbye || end.greeting == Handshake::State::OtherJob;
  if (was_stranger && is_other_job) {
    events_->on_other_job(links_.at(id)->handshake().theirs(), peers_.at(id).first);
  }
  if (was_stranger && is_worth_a_word(end, links_.at(id)->handshake())) note_stranger(id, end.why);
  if (goes_away(id, end)) return;
  drop(id);
  if (!was_stranger) inbox_.put({id, end.why});
}

void Hub::drop(int member) {
  links_.erase(member);
  peers_.erase(member);
  forget_stranger(member);
  asked_at_.erase(member);
  clocks_.erase(member);
  wall_clocks_.erase(member);
  tickets_.erase(member);
  away_.erase(member);
}

void Hub::take(int id, Message message) {
  if (const auto* clock = std::get_if<ClockMessage>(&message)) return take_clock(id, *clock);
  if (const auto* back = std::get_if<ReturnMessage>(&message)) return take_return(id, back->ticket);
  if (std::holds_alternative<OfferMessage>(message)) tickets_.erase(id);
  inbox_.put({id, std::move(message)});
}

void Hub::take_clock(int id, const ClockMessage& clock) {
  const ClockMessage ours = clocks_now();
  const auto now = ours.steady;
  const auto found = asked_at_.find(id);
  const auto asked = found != asked_at_.end() ? found->second : links_.at(id)->greeted_at();
  const ClockOffset sample(asked, clock.steady, now);
  const auto before = clocks_.find(id);
  if (before == clocks_.end()) {
    clocks_.emplace(id, sample);
  } else if (sample.error(now) <= before->second.error(now)) {
    before->second = sample;
  }
  const auto half = std::chrono::duration_cast<std::chrono::nanoseconds>(now - asked).count() / 2;
  wall_clocks_[id] = {clock.wall_ns - (ours.wall_ns - half), half};
}

void Hub::send(int member, const Message& message) {
  const auto found = links_.find(member);
  if (found != links_.end()) found->second->send(message);
}

void Hub::send_encoded(int member, std::string_view message) {
  const auto found = links_.find(member);
  if (found != links_.end()) found->second->send_encoded(message);
}

void Hub::send_all(const Message& message) {
  const std::string encoded = encode(message);
  for (const auto& [member, link] : links_) link->send_encoded(encoded);
}

void Hub::let_members_leave(std::chrono::milliseconds patience) {
  listen(nobody_);
  run_until(loop_, patience, [this] { return !has_members() && away_.empty(); });
}

void Hub::relax() const {
  for (const auto& [member, link] : links_) set_keep_alive(link->fd(), identity_.keep_alive);
}

std::optional<ClockOffset> Hub::clock_of(int member) const {
  const auto found = clocks_.find(member);
  if (found == clocks_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::pair<std::int64_t, std::int64_t>> Hub::wall_clock_of(int member) const {
  const auto found = wall_clocks_.find(member);
  if (found == wall_clocks_.end()) return std::nullopt;
  return found->second;
}

// The first is told at once, the others of the next second together.
void Hub::note_stranger(int id, const std::string& why) {
  const auto [address, port] = peers_.at(id);
  last_stranger_ =
      fmt::format("a stranger at {}:{} was turned away: {}", format_ipv4(address), port, why);
  ++untold_strangers_;
  if (!next_remark_.is_set()) tell_strangers();
}

void Hub::tell_strangers() {
  const int count = std::exchange(untold_strangers_, 0);
  if (count == 0) return;
  events_->on_remark(count == 1 ? last_stranger_
                                : fmt::format("{}, and {} more", last_stranger_, count - 1));
  next_remark_.set(kBetweenRemarks, [this] { tell_strangers(); });
}

// Members whose connection broke while the job was being stopped, and who come back over another.
void Hub::void_tickets() {
  tickets_.clear();
  away_.clear();
  for_returning_.clear();
  places_held_.stop();
}

Ticket Hub::give_ticket(int member) {
  const Key key = random_key();
  tickets_[member] = key;
  return {.member = member, .key = std::string(bytes_of(key))};
}

void Hub::hold_places(std::chrono::milliseconds longest) {
  places_held_.set(longest, [this] {
    for (const auto& [member, why] : std::exchange(away_, {})) {
      drop(member);
      inbox_.put({member, why});
    }
  });
}

// A launcher that ended closes its connections; one that lives behind a broken network does not.
bool Hub::goes_away(int id, const LinkEnd& end) {
  if (end.is_closed || !places_held_.is_set() || !tickets_.contains(id)) return false;
  links_.erase(id);
  away_[id] = end.why;
  events_->on_away(id, end.why);
  return true;
}

// The hub may not have noticed yet that the connection before this one is broken.
void Hub::take_return(int id, const Ticket& ticket) {
  const int member = ticket.member;
  const auto given = tickets_.find(member);
  const auto key = key_of(ticket.key);
  if (given == tickets_.end() || !key || !same(given->second, *key)) {
    note_stranger(id, "it asked for the place of a node and has no ticket for it");
    return send(id, RefusalMessage{.status = kNodeMissingStatus,
                                   .node = -1,
                                   .text = "the job has gone on without this node"});
  }
  if (id == member) return;
  std::unique_ptr<Link> link = std::move(links_.at(id));
  peers_[member] = peers_.at(id);
  if (const auto clock = clock_of(id)) clocks_.insert_or_assign(member, *clock);
  drop(id);
  Link::Events events = link_events(member);
  link->listen(std::move(events.message), std::move(events.ended));
  for (const std::string& message : for_returning_) link->send_encoded(message);
  links_[member] = std::move(link);
  const bool was_away = away_.erase(member) > 0;
  if (was_away) events_->on_back(member);
}

}  // namespace paddle_launch
