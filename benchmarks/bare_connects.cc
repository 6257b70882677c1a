// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/bare_connects.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "benchmarks/process_facts.h"
#include "launcher/os/check.h"
#include "launcher/os/sockets.h"

namespace paddle_launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kAddress = 0x7f4e0002;  // 127.78.0.2
constexpr int kPort = 6060;
constexpr int kBacklog = 4096;

UniqueFd make_epoll() { return UniqueFd(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")); }

void watch(const UniqueFd& epoll, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  check(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

}  // namespace

void play_acceptor(int connections) {
  const UniqueFd listener = listen_on(kAddress, kPort, kBacklog);
  const UniqueFd epoll = make_epoll();
  watch(epoll, listener.get(), EPOLLIN);
  std::vector<UniqueFd> accepted;
  accepted.reserve(static_cast<size_t>(connections));
  const Costs before = costs_now();
  say("ready", 1);
  while (accepted.size() < static_cast<size_t>(connections)) {
    epoll_event event{};
    if (epoll_wait(epoll.get(), &event, 1, -1) <= 0) continue;
    for (;;) {
      UniqueFd one(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!one) break;
      accepted.push_back(std::move(one));
    }
  }
  say("accepted", moment(Clock::now()));
  pollfd told_to_end{-1, POLLIN, 0};
  const UniqueFd signals = blocked_sigterm();
  told_to_end.fd = signals.get();
  poll(&told_to_end, 1, -1);
  say_costs_since(before);
}

void play_connector(int connections) {
  const UniqueFd epoll = make_epoll();
  std::vector<UniqueFd> attempts;
  attempts.reserve(static_cast<size_t>(connections));
  const Costs before = costs_now();
  const auto began = Clock::now();
  for (int i = 0; i < connections; ++i) {
    attempts.push_back(begin_connect(kAddress, kPort));
    watch(epoll, attempts.back().get(), EPOLLOUT | EPOLLONESHOT);
  }
  std::array<epoll_event, 64> events{};
  for (int connected = 0; connected < connections;) {
    const int count = epoll_wait(epoll.get(), events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      if (connect_result(events[static_cast<size_t>(i)].data.fd) != 0) {
        throw std::runtime_error("a connection failed");
      }
      ++connected;
    }
  }
  say("connected", moment(Clock::now()));
  say("began", moment(began));
  say_costs_since(before);
  for (const UniqueFd& attempt : attempts) close_by_reset(attempt.get());
}

}  // namespace paddle_launch
