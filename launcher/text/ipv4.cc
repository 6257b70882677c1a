// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/ipv4.h"

#include <arpa/inet.h>

#include <array>

namespace paddle_launch {
namespace {

constexpr std::uint32_t kLoopbackNet = 127;

}  // namespace

std::optional<std::uint32_t> parse_ipv4(const std::string& text) {
  // A text with a 0 byte in it would be read only up to there.
  if (text.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::string format_ipv4(std::uint32_t address) {
  const in_addr wire{htonl(address)};
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &wire, text.data(), text.size());
  return text.data();
}

bool is_loopback(std::uint32_t address) { return address >> 24 == kLoopbackNet; }

}  // namespace paddle_launch
