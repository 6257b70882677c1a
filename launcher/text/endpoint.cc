// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/endpoint.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
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
