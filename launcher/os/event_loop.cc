// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/event_loop.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "launcher/os/check.h"
#include "launcher/os/milliseconds_until.h"

namespace paddle_launch {

EventLoop::EventLoop() : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void EventLoop::on_readable(int fd, Callback callback) {
  watches_[fd].readable = std::move(callback);
  update(fd);
}

void EventLoop::on_writable(int fd, Callback callback) {
  watches_[fd].writable = std::move(callback);
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
  event.events = (watch.readable ? EPOLLIN : 0U) | (watch.writable ? EPOLLOUT : 0U);
  event.data.fd = fd;
  const int operation = std::exchange(watch.registered, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  check(epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl");
}

EventLoop::Timer EventLoop::after(std::chrono::milliseconds delay, Callback callback) {
  return timers_.emplace(Clock::now() + delay, std::move(callback));
}

void EventLoop::cancel(Timer timer) { timers_.erase(timer); }

int EventLoop::milliseconds_to_next_timer() const {
  return timers_.empty() ? -1 : milliseconds_until(timers_.begin()->first);
}

void EventLoop::fire_due_timers() {
  const auto now = Clock::now();
  while (running_ && !timers_.empty() && timers_.begin()->first <= now) {
    const Callback callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    callback();
  }
}

void EventLoop::run() {
  running_ = true;
  std::array<epoll_event, 16> events{};
  while (running_) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 milliseconds_to_next_timer());
    if (count < 0 && errno != EINTR) check(count, "epoll_wait");
    for (int i = 0; i < count && running_; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      // A callback may forget this or another descriptor: look it up afresh, call a copy.
      const auto found = watches_.find(event.data.fd);
      if (found == watches_.end()) continue;
      const bool writable = (event.events & (EPOLLOUT | EPOLLERR)) != 0 && found->second.writable;
      const Callback callback = writable ? found->second.writable : found->second.readable;
      if (callback) callback();
    }
    fire_due_timers();
  }
}

}  // namespace paddle_launch
