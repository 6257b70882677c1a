// SPDX-License-Identifier: Apache-2.0
// The way of a member that lost the hub back to it: the address where it was, the secret that both
// proved, and the ticket that the hub gave it. Dialled again and again, for a limited time.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "launcher/channel/dialer.h"
#include "launcher/channel/link.h"
#include "launcher/channel/message.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"

namespace paddle_launch {

class WayBack {
 public:
  // One of them is called, unless stop() comes before. `found`: over this link the ticket has been
  // shown; what the hub says to that comes over it. `failed`: nobody listens there any more, or the
  // time is over.
  struct Events {
    std::function<void(std::unique_ptr<Link>)> found;
    std::function<void()> failed;
  };

  // `link`: the one to the hub, while it is there.
  WayBack(EventLoop& loop, const Link& link, Ticket ticket, const KeepAlive& keep_alive);

  void begin(EventLoop::Clock::time_point until, Events events);
  void stop();
  bool is_under_way() const { return until_.is_set(); }

 private:
  void dial();
  void found(std::unique_ptr<Link> link);
  void failed(const DialFailure& failure);
  void give_up();

  EventLoop& loop_;
  ChannelIdentity identity_;
  std::optional<DialTarget> hub_;
  std::optional<std::uint32_t> from_;
  Ticket ticket_;
  Events events_;
  std::unique_ptr<Dialer> dialer_;
  std::chrono::milliseconds pause_{0};
  Alarm retry_;
  Alarm until_;
};

}  // namespace paddle_launch
