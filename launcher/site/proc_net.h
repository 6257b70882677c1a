// SPDX-License-Identifier: Apache-2.0
// Reads the tables of sockets in /proc/net.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

using Words = std::vector<std::string_view>;

void for_each_line(std::string_view text, const std::function<void(const Words&)>& reader);

// A line of /proc/net/tcp or tcp6.
struct TcpSocket {
  int port = 0;  // the local one
  bool listens = false;
  bool on_loopback = false;  // reached from this machine alone
  std::string_view user{};   // a number
  std::string_view inode{};  // "0": the socket belongs to nobody any more
};

// Nothing where the table cannot be read.
void for_each_tcp_socket(const std::string& table,
                         const std::function<void(const TcpSocket&)>& reader);

}  // namespace paddle_launch
