// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/shared_nodes.h"

#include <algorithm>
#include <cstddef>

namespace paddle_launch {

bool are_neighbours(const std::vector<int>& node_of, std::optional<int> one,
                    std::optional<int> other) {
  if (node_of.empty() || !one || !other) return false;
  return node_of.at(static_cast<std::size_t>(*one)) == node_of.at(static_cast<std::size_t>(*other));
}

std::optional<std::uint32_t> most_frequent(std::vector<std::uint32_t> addresses) {
  std::sort(addresses.begin(), addresses.end());
  std::optional<std::uint32_t> best;
  std::ptrdiff_t most = 0;
  for (auto next = addresses.begin(); next != addresses.end();) {
    const auto end = std::upper_bound(next, addresses.end(), *next);
    if (end - next > most) {
      most = end - next;
      best = *next;
    }
    next = end;
  }
  return best;
}

void share_addresses_of_nodes(Roster& roster) {
  for (std::size_t pod = 1; pod < roster.node_of.size(); ++pod) {
    if (roster.node_of[pod] == roster.node_of[pod - 1]) {
      roster.pods.at(pod).host = roster.pods.at(pod - 1).host;
    }
  }
}

}  // namespace paddle_launch
