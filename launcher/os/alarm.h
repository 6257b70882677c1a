// SPDX-License-Identifier: Apache-2.0
// One timer of an event loop that goes away with its owner.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "launcher/os/event_loop.h"

namespace paddle_launch {

class Alarm {
 public:
  explicit Alarm(EventLoop& loop) : loop_(loop) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { stop(); }

  // Replaces what was set before. The owner may go away inside the callback.
  void set(std::chrono::milliseconds delay, EventLoop::Callback callback,
           CallbackOwner owner = CallbackOwner::here()) {
    stop();
    timer_ = loop_.after(
        delay,
        [this, call = std::move(callback)] {
          timer_.reset();
          call();
        },
        owner);
  }

  void stop() {
    if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  }

  bool is_set() const { return timer_.has_value(); }

 private:
  EventLoop& loop_;
  std::optional<EventLoop::Timer> timer_;
};

}  // namespace paddle_launch
