// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/node_order.h"

#include <algorithm>

namespace paddle_launch {

std::vector<int> order_nodes(const std::vector<ArrivedNode>& nodes, bool sort_ip) {
  std::vector<int> places(nodes.size(), -1);
  std::vector<bool> taken(nodes.size(), false);
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].rank) {
      rest.push_back(i);
      continue;
    }
    places[i] = *nodes[i].rank;
    taken.at(static_cast<std::size_t>(places[i])) = true;
  }
  std::stable_sort(rest.begin(), rest.end(), [&](std::size_t one, std::size_t other) {
    if (!sort_ip && nodes[one].is_hub != nodes[other].is_hub) return nodes[one].is_hub;
    return nodes[one].address < nodes[other].address;
  });
  std::size_t place = 0;
  for (const std::size_t i : rest) {
    while (taken[place]) ++place;
    places[i] = static_cast<int>(place++);
  }
  return places;
}

}  // namespace paddle_launch
