// SPDX-License-Identifier: Apache-2.0
// Several pods on one node, pure: what they have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "launcher/job/pod.h"

namespace paddle_launch {

// `node_of`: of each place; empty: every pod has a node of its own.
bool are_neighbours(const std::vector<int>& node_of, std::optional<int> one,
                    std::optional<int> other);

// The smallest of those that are there most often; none: there are none.
std::optional<std::uint32_t> most_frequent(std::vector<std::uint32_t> addresses);

// One address for a node, its first pod's, whichever way each of its pods came.
void share_addresses_of_nodes(Roster& roster);

}  // namespace paddle_launch
