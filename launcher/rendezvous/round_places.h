// SPDX-License-Identifier: Apache-2.0
// Who takes part in the next round of an elastic job and in which place, pure. Places are dense,
// and whoever can keeps the one it had: trainers reload less when ranks stay.
#pragma once

#include <optional>
#include <vector>

namespace paddle_launch {

struct Candidate {
  std::optional<int> place{};  // in the round before; none: a newcomer
};

// For each candidate its place, none: there is no room for it. The first one holds the job together
// and has a place in any case; the others stand in the order of their seniority. Those of the round
// before go first when there are more than `most`, of these the ones with the lowest places.
std::vector<std::optional<int>> round_places(const std::vector<Candidate>& candidates, int most);

}  // namespace paddle_launch
