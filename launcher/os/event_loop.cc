// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/event_loop.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "launcher/os/check.h"
#include "launcher/os/clock.h"

namespace paddle_launch {
namespace {

// "channel/hub.cc:41", wherever the program was built.
std::string place_of(const CallbackOwner& owner) {
  constexpr std::string_view sources = "launcher/";
  std::string_view file = owner.file;
  const std::size_t found = file.rfind(sources);
  if (found != std::string_view::npos) file.remove_prefix(found + sources.size());
  return std::string(file) + ":" + std::to_string(owner.line);
}

}  // namespace

CallbackFailed::CallbackFailed(const CallbackOwner& owner, const std::string& what,
                               std::exception_ptr thrown)
    : std::runtime_error(place_of(owner) + ": " + what), why(std::move(thrown)) {}

EventLoop::EventLoop() : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void EventLoop::on_readable(int fd, Callback callback, CallbackOwner owner) {
  watches_[fd].readable = {std::move(callback), owner};
  update(fd);
}

void EventLoop::on_writable(int fd, Callback callback, CallbackOwner owner) {
  watches_[fd].writable = {std::move(callback), owner};
  update(fd);
}

void EventLoop::forget(int fd) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  watches_.erase(found);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::update(int fd) {
  Watch& watch = watches_[fd];
  epoll_event event{};
  event.events = (watch.readable.call ? EPOLLIN : 0U) | (watch.writable.call ? EPOLLOUT : 0U);
  event.data.fd = fd;
  const int operation = std::exchange(watch.registered, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  check(epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl");
}

EventLoop::Timer EventLoop::after(std::chrono::milliseconds delay, Callback callback,
                                  CallbackOwner owner) {
  return timers_.emplace(Clock::now() + delay, OwnedCallback{std::move(callback), owner});
}

void EventLoop::cancel(Timer timer) { timers_.erase(timer); }

int EventLoop::milliseconds_to_next_timer() const {
  return timers_.empty() ? -1 : milliseconds_until(timers_.begin()->first);
}

bool EventLoop::call(const OwnedCallback& callback, const std::function<bool()>& is_so) {
  try {
    callback.call();
  } catch (const CallbackFailed&) {
    throw;  // of a wait inside this callback: named already
  } catch (const std::exception& error) {
    throw CallbackFailed(callback.owner, error.what(), std::current_exception());
  } catch (...) {
    throw CallbackFailed(callback.owner, "an exception of no known kind", std::current_exception());
  }
  if (reason_) std::rethrow_exception(std::exchange(reason_, nullptr));
  return !is_so();
}

bool EventLoop::serve(int fd, unsigned events, const std::function<bool()>& is_so) {
  // A callback may forget this or another descriptor: look it up afresh, call a copy.
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return true;
  const bool writable =
      (events & (EPOLLOUT | EPOLLERR)) != 0 && static_cast<bool>(found->second.writable.call);
  const OwnedCallback callback = writable ? found->second.writable : found->second.readable;
  if (!callback.call) return true;
  try {
    return call(callback, is_so);
  } catch (const CallbackFailed&) {
    forget(fd);  // it would throw again, and again
    throw;
  }
}

bool EventLoop::fire_due_timers(const std::function<bool()>& is_so) {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const OwnedCallback callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    if (!call(callback, is_so)) return false;
  }
  return true;
}

void EventLoop::run_until(const std::function<bool()>& is_so) {
  std::array<epoll_event, 16> events{};
  bool goes_on = !is_so();
  while (goes_on) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 milliseconds_to_next_timer());
    if (count < 0 && errno != EINTR) check(count, "epoll_wait");
    for (int i = 0; i < count && goes_on; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      goes_on = serve(event.data.fd, event.events, is_so);
    }
    goes_on = goes_on && fire_due_timers(is_so);
  }
}

}  // namespace paddle_launch
