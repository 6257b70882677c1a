// SPDX-License-Identifier: Apache-2.0
// A listener that its owner may need later and serves nobody until then. Whoever connects meanwhile
// is kept for a moment, since the owner may be about to need it, and then turned away: connections
// of hours ago neither fill the kernel's queue nor wait for whoever serves it at last.
#pragma once

#include <chrono>
#include <utility>

#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

class IdleListener {
 public:
  IdleListener(EventLoop& loop, UniqueFd listener)
      : loop_(loop), listener_(std::move(listener)), moment_(loop) {
    watch();
  }
  IdleListener(const IdleListener&) = delete;
  IdleListener& operator=(const IdleListener&) = delete;
  ~IdleListener() { loop_.forget(listener_.get()); }

  int port() const { return local_port(listener_.get()); }
  // For whoever serves it from now on, with those who came last. This object is of no more use.
  UniqueFd take() {
    moment_.stop();
    loop_.forget(listener_.get());
    return std::move(listener_);
  }

 private:
  static constexpr std::chrono::seconds kMoment{2};
  static constexpr int kAtOnce = 4096;

  void watch() {
    loop_.on_readable(listener_.get(), [this] {
      loop_.forget(listener_.get());
      moment_.set(kMoment, [this] { turn_away(); });
    });
  }

  void turn_away() {
    int left = kAtOnce;
    while (left-- > 0 && accept_next(listener_.get()).socket) continue;
    watch();
  }

  EventLoop& loop_;
  UniqueFd listener_;
  Alarm moment_;
};

}  // namespace paddle_launch
