// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/way_back.h"

#include <algorithm>
#include <utility>

#include "launcher/channel/message.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{1000};

}  // namespace

// The secret of the first handshake: a sealed credential can be opened only once.
WayBack::WayBack(EventLoop& loop, const Link& link, Ticket ticket, const KeepAlive& keep_alive)
    : loop_(loop),
      identity_{.secret = link.handshake().secret(),
                .greeting = link.handshake().mine(),
                .keep_alive = keep_alive},
      from_(local_address(link.fd())),
      ticket_(std::move(ticket)),
      retry_(loop),
      until_(loop) {
  if (const auto peer = peer_of(link.fd())) hub_ = DialTarget{peer->first, peer->second};
}

void WayBack::begin(EventLoop::Clock::time_point until, Events events) {
  events_ = std::move(events);
  pause_ = kFirstPause;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - EventLoop::Clock::now());
  until_.set(hub_ ? std::max(left, std::chrono::milliseconds(0)) : std::chrono::milliseconds(0),
             [this] { give_up(); });
  if (hub_) retry_.set(std::chrono::milliseconds(0), [this] { dial(); });
}

void WayBack::stop() {
  until_.stop();
  retry_.stop();
  dialer_.reset();
}

void WayBack::dial() {
  dialer_ = std::make_unique<Dialer>(
      loop_, identity_, std::vector<DialTarget>{*hub_}, from_,
      Dialer::Events{.found = [this](std::unique_ptr<Link> link) { found(std::move(link)); },
                     .failed = [this](const DialFailure& failure) { failed(failure); }});
}

void WayBack::found(std::unique_ptr<Link> link) {
  stop();
  link->send(clocks_now());
  link->send(ReturnMessage{ticket_});
  events_.found(std::move(link));
}

void WayBack::failed(const DialFailure& failure) {
  const bool is_refused = failure.is_refused;
  dialer_.reset();
  if (is_refused) return give_up();
  retry_.set(pause_, [this] { dial(); });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void WayBack::give_up() {
  stop();
  events_.failed();
}

}  // namespace paddle_launch
