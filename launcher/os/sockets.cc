// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0013: why the kernel tells who is alive.
#include "launcher/os/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "launcher/os/check.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds::rep kLongestBudget = 32767;  // the kernel's limit for TCP_KEEPIDLE
constexpr int kProbes = 5;

sockaddr_in socket_address(std::uint32_t address, int port) {
  sockaddr_in wire{};
  wire.sin_family = AF_INET;
  wire.sin_addr.s_addr = htonl(address);
  wire.sin_port = htons(static_cast<std::uint16_t>(port));
  return wire;
}

std::string endpoint(std::uint32_t address, int port) {
  const in_addr wire{htonl(address)};
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &wire, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(port);
}

UniqueFd open_socket() {
  return UniqueFd(check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"));
}

void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

void bind_to(int fd, std::uint32_t address, int port) {
  const sockaddr_in wire = socket_address(address, port);
  check(bind(fd, reinterpret_cast<const sockaddr*>(&wire), sizeof wire), "bind",
        endpoint(address, port));
}

using AskForEnd = int (*)(int, sockaddr*, socklen_t*);  // getsockname, getpeername

// None: errno says why.
std::optional<sockaddr_in> end_of(int fd, AskForEnd ask) {
  sockaddr_in wire{};
  socklen_t size = sizeof wire;
  if (ask(fd, reinterpret_cast<sockaddr*>(&wire), &size) != 0) return std::nullopt;
  errno = EAFNOSUPPORT;
  if (size != sizeof wire || wire.sin_family != AF_INET) return std::nullopt;
  return wire;
}

}  // namespace

UniqueFd listen_on(std::uint32_t address, int port, int backlog) {
  UniqueFd listener = open_socket();
  set_option(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  bind_to(listener.get(), address, port);
  check(listen(listener.get(), backlog), "listen", endpoint(address, port));
  return listener;
}

UniqueFd begin_connect(std::uint32_t address, int port, std::optional<std::uint32_t> from) {
  UniqueFd attempt = open_socket();
  if (from) {
    // Otherwise bind takes a port that no other connection of this address may have, to anywhere.
    set_option(attempt.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    bind_to(attempt.get(), *from, 0);
  }
  const sockaddr_in wire = socket_address(address, port);
  const int result = connect(attempt.get(), reinterpret_cast<const sockaddr*>(&wire), sizeof wire);
  if (result != 0 && errno != EINPROGRESS) check(-1, "connect", endpoint(address, port));
  return attempt;
}

int connect_result(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error != 0) return error;
  const auto peer = end_of(fd, getpeername);
  if (!peer) return errno;
  const auto own = end_of(fd, getsockname);
  if (!own) return errno;
  const bool met_itself =
      own->sin_addr.s_addr == peer->sin_addr.s_addr && own->sin_port == peer->sin_port;
  return met_itself ? ECONNREFUSED : 0;
}

void set_no_delay(int fd) { set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1); }

KeepAlive keep_alive_for(std::chrono::seconds heartbeat) {
  const auto seconds = std::clamp<std::chrono::seconds::rep>(heartbeat.count(), 0, kLongestBudget);
  const int budget = std::max(2, static_cast<int>(seconds) * 4 / 5);
  KeepAlive keep_alive;
  keep_alive.interval_s = std::max(1, budget / 8);
  keep_alive.count = std::clamp(budget * kProbes / 8, 1, kProbes);
  keep_alive.idle_s = budget - keep_alive.interval_s * keep_alive.count;
  keep_alive.user_timeout_ms = budget * 1000;
  return keep_alive;
}

void set_keep_alive(int fd, const KeepAlive& keep_alive) {
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, keep_alive.idle_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, keep_alive.interval_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, keep_alive.count);
  // Keep-alive probes are not sent while data waits for its acknowledgement; this covers that time.
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, keep_alive.user_timeout_ms);
}

void shorten_user_timeout(int fd, std::chrono::milliseconds timeout) {
  unsigned int now = 0;
  socklen_t size = sizeof now;
  const auto wanted = static_cast<unsigned int>(timeout.count());
  if (getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &now, &size) != 0) return;
  if (now != 0 && now <= wanted) return;
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &wanted, sizeof wanted);
}

std::optional<std::uint32_t> local_address(int fd) {
  const auto own = end_of(fd, getsockname);
  if (!own || own->sin_addr.s_addr == htonl(INADDR_ANY)) return std::nullopt;
  return ntohl(own->sin_addr.s_addr);
}

int local_port(int fd) {
  const auto own = end_of(fd, getsockname);
  return own ? ntohs(own->sin_port) : 0;
}

std::optional<std::uint32_t> source_address_for(std::uint32_t address) {
  const UniqueFd route(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_in target = socket_address(address, 1);
  if (!route ||
      connect(route.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0)
    return std::nullopt;
  return local_address(route.get());
}

std::optional<std::pair<std::uint32_t, int>> peer_of(int fd) {
  const auto peer = end_of(fd, getpeername);
  if (!peer) return std::nullopt;
  return std::pair(ntohl(peer->sin_addr.s_addr), int{ntohs(peer->sin_port)});
}

}  // namespace paddle_launch
