// SPDX-License-Identifier: Apache-2.0
// Which pod has which place, pure: in a job with a fixed number of nodes, and in a round of an
// elastic job, where places are dense and whoever can keeps the one it had: trainers reload less
// when ranks stay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace paddle_launch {

struct ArrivedNode {
  std::optional<int> rank{};  // --rank
  std::uint32_t address = 0;
  bool is_hub = false;
};

// The place of each node, in the order of arrival given. `sort_ip`: the hub is sorted as well.
// Explicit ranks must be different and below the number of nodes.
std::vector<int> order_nodes(const std::vector<ArrivedNode>& nodes, bool sort_ip);

struct Candidate {
  std::optional<int> place{};  // in the round before; none: a newcomer
};

// For each candidate its place, none: there is no room for it. The first one holds the job together
// and has a place in any case; the others stand in the order of their seniority. Those of the round
// before go first when there are more than `most`, of these the ones with the lowest places.
std::vector<std::optional<int>> round_places(const std::vector<Candidate>& candidates, int most);

}  // namespace paddle_launch
