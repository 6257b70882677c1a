// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/ipv4.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "launcher/text/lists.h"
#include "launcher/text/number.h"

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

namespace {

constexpr std::size_t kPartsOfAnAddress = 4;
constexpr int kHighestPart = 255;

}  // namespace

std::string_view host_of(std::string_view endpoint) {
  return endpoint.substr(0, endpoint.rfind(':'));
}

int port_of(std::string_view endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos) return 0;
  return static_cast<int>(parse_whole_number(endpoint.substr(colon + 1)).value_or(0));
}

bool is_dotted_address(std::string_view host) {
  const std::vector<std::string_view> parts = split(host, '.');
  return parts.size() == kPartsOfAnAddress &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_whole_number(part);
           return number && *number >= 0 && *number <= kHighestPart;
         });
}

}  // namespace paddle_launch
