// SPDX-License-Identifier: Apache-2.0
// One thread, one loop: calls back when a descriptor is readable or a timer is due. While nothing
// happens it sleeps in the kernel without a time-out, so an idle launcher does not wake.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

// Whose callback it is: the place in the source where it was given to the loop.
struct CallbackOwner {
  const char* file = "";
  int line = 0;

  static constexpr CallbackOwner here(const char* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) {
    return {file, line};
  }
};

// A callback threw, which is a bug of the launcher's own: what comes from outside is data, and
// whoever handles it drops it and goes on (docs/decisions/0033). The text names the owner.
struct CallbackFailed : std::runtime_error {
  CallbackFailed(const CallbackOwner& owner, const std::string& what, std::exception_ptr thrown);
  std::exception_ptr why;
};

class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Callback = std::function<void()>;
  struct OwnedCallback {
    Callback call;
    CallbackOwner owner;
  };
  using Timer = std::multimap<Clock::time_point, OwnedCallback>::iterator;

  EventLoop();

  void on_readable(int fd, Callback callback, CallbackOwner owner = CallbackOwner::here());
  void on_writable(int fd, Callback callback, CallbackOwner owner = CallbackOwner::here());
  // Must be called before the descriptor is closed.
  void forget(int fd);

  Timer after(std::chrono::milliseconds delay, Callback callback,
              CallbackOwner owner = CallbackOwner::here());
  void cancel(Timer timer);

  // Returns when it is so, and looks after every callback. Where a callback throws, its descriptor
  // is forgotten, and CallbackFailed ends the wait; another wait may follow.
  void run_until(const std::function<bool()>& is_so);
  // For a callback that ends the wait on purpose: run_until() throws this, and nothing else
  // follows.
  void end_wait(std::exception_ptr reason) { reason_ = std::move(reason); }

 private:
  struct Watch {
    OwnedCallback readable;
    OwnedCallback writable;
    bool registered = false;
  };

  void update(int fd);
  int milliseconds_to_next_timer() const;
  // Whether the wait goes on.
  bool call(const OwnedCallback& callback, const std::function<bool()>& is_so);
  bool serve(int fd, unsigned events, const std::function<bool()>& is_so);
  bool fire_due_timers(const std::function<bool()>& is_so);

  UniqueFd epoll_;
  std::map<int, Watch> watches_;
  std::multimap<Clock::time_point, OwnedCallback> timers_;
  std::exception_ptr reason_;
};

// One timer of an event loop that goes away with its owner.
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

// Lets a loop run until something is so, but no longer than a deadline. Returns whether it is.
inline bool run_until(EventLoop& loop, std::chrono::milliseconds longest,
                      const std::function<bool()>& is_so) {
  bool is_late = false;
  Alarm alarm(loop);
  alarm.set(longest, [&is_late] { is_late = true; });
  loop.run_until([&] { return is_late || is_so(); });
  return is_so();
}

}  // namespace paddle_launch
