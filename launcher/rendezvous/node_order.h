// SPDX-License-Identifier: Apache-2.0
// The order of nodes that met at --master, pure: explicit ranks first, the hub takes 0 if nobody
// asked for it, the rest go by their numeric addresses, and by arrival where these are the same.
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

}  // namespace paddle_launch
