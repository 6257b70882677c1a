// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/places.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

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

namespace {

constexpr int kNewcomer = std::numeric_limits<int>::max();

int old_place(const Candidate& candidate) {
  return candidate.place && *candidate.place >= 0 ? *candidate.place : kNewcomer;
}

// By their old places, newcomers last. Stable: of two who claim one place the senior goes first.
std::vector<std::size_t> by_claim(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return old_place(candidates[a]) < old_place(candidates[b]);
  });
  return order;
}

}  // namespace

std::vector<std::optional<int>> round_places(const std::vector<Candidate>& candidates, int most) {
  const std::size_t room = std::min(candidates.size(), static_cast<std::size_t>(std::max(most, 0)));
  std::vector<std::size_t> taking_part = by_claim(candidates);
  const auto first = std::find(taking_part.begin(), taking_part.end(), std::size_t{0});
  // Instead of the last one for whom there would be room.
  const bool is_left_out = first != taking_part.end() &&
                           first - taking_part.begin() >= static_cast<std::ptrdiff_t>(room);
  if (is_left_out && room > 0)
    std::iter_swap(first, taking_part.begin() + static_cast<std::ptrdiff_t>(room) - 1);
  taking_part.resize(room);
  std::vector<std::optional<int>> places(candidates.size());
  std::vector<bool> is_taken(room, false);
  for (const std::size_t who : taking_part) {
    const int old = old_place(candidates[who]);
    const auto index = static_cast<std::size_t>(old);
    if (index >= room || is_taken[index]) continue;
    is_taken[index] = true;
    places[who] = old;
  }
  std::size_t hole = 0;
  for (const std::size_t who : taking_part) {
    if (places[who]) continue;
    while (is_taken[hole]) ++hole;
    places[who] = static_cast<int>(hole++);
  }
  return places;
}

}  // namespace paddle_launch
