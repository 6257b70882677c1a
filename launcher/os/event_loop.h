// SPDX-License-Identifier: Apache-2.0
// One thread, one loop: calls back when a descriptor is readable or a timer is due. While nothing
// happens it sleeps in the kernel without a time-out, so an idle launcher does not wake.
#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Callback = std::function<void()>;
  using Timer = std::multimap<Clock::time_point, Callback>::iterator;

  EventLoop();

  void on_readable(int fd, Callback callback);
  void on_writable(int fd, Callback callback);
  // Must be called before the descriptor is closed.
  void forget(int fd);

  Timer after(std::chrono::milliseconds delay, Callback callback);
  void cancel(Timer timer);

  // Returns when stop() was called from a callback.
  void run();
  void stop() { running_ = false; }

 private:
  struct Watch {
    Callback readable;
    Callback writable;
    bool registered = false;
  };

  void update(int fd);
  int milliseconds_to_next_timer() const;
  void fire_due_timers();

  UniqueFd epoll_;
  std::map<int, Watch> watches_;
  std::multimap<Clock::time_point, Callback> timers_;
  bool running_ = false;
};

}  // namespace paddle_launch
