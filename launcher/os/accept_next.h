// SPDX-License-Identifier: Apache-2.0
// Whoever waits longest at a listener. It may have gone already: the address is known all the same
// (getpeername would fail), and who reads from the connection learns of its end.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

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
