// SPDX-License-Identifier: Apache-2.0
// TCP over IPv4, non-blocking. Addresses and ports are in host byte order; failures are
// std::system_error with the kernel's errno in code().
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

UniqueFd listen_on(std::uint32_t address, int port, int backlog);  // address 0: all of them

// Writable when the attempt is over; then ask connect_result. Throws what the kernel knows at once:
// a port of this host where nobody listens (ECONNREFUSED), a network without a route.
UniqueFd begin_connect(std::uint32_t address, int port,
                       std::optional<std::uint32_t> from = std::nullopt);

// 0: connected; otherwise an errno, ENOTCONN while the attempt is under way. A socket that met
// itself is reported as ECONNREFUSED: the kernel may give an attempt the very port as its own that
// it is for, and where nobody listens there the two ends then agree with each other.
int connect_result(int fd);

// These two never throw: a connection whose other side is gone may refuse, and who reads from it
// learns of that.
void set_no_delay(int fd);

struct KeepAlive {
  int idle_s = 1;
  int interval_s = 1;
  int count = 1;
  int user_timeout_ms = 2000;

  bool operator==(const KeepAlive&) const = default;
};

// Finds a peer that has vanished within four fifths of the heartbeat, so that the kernel's reason
// comes before the heartbeat's; not below two seconds, since the kernel counts whole ones.
KeepAlive keep_alive_for(std::chrono::seconds heartbeat);
void set_keep_alive(int fd, const KeepAlive& keep_alive);
// Bytes that are not acknowledged by then end the connection; never longer than it was.
void shorten_user_timeout(int fd, std::chrono::milliseconds timeout);

std::optional<std::uint32_t> local_address(int fd);  // none: not bound to one
int local_port(int fd);
std::optional<std::pair<std::uint32_t, int>> peer_of(int fd);  // none: the connection is gone

// The address of this host that packets to that one would carry; none: there is no route. Nothing
// is sent.
std::optional<std::uint32_t> source_address_for(std::uint32_t address);

// Whoever waits longest at a listener. It may have gone already: the address is known all the same
// (getpeername would fail), and who reads from the connection learns of its end.
struct Accepted {
  UniqueFd socket{};  // without: errno says why
  std::uint32_t address = 0;
  int port = 0;
};

inline Accepted accept_next(int listener) {
  sockaddr_in wire{};
  socklen_t size = sizeof wire;
  UniqueFd socket(
      accept4(listener, reinterpret_cast<sockaddr*>(&wire), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  return {std::move(socket), ntohl(wire.sin_addr.s_addr), ntohs(wire.sin_port)};
}

}  // namespace paddle_launch
