// SPDX-License-Identifier: Apache-2.0
// How Slurm writes the nodes of a step, and how many tasks each of them has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// "n[08-11,3],login" is n08 n09 n10 n11 n3 login, in that order. None: no such list, no node at
// all, more than 65536 nodes, or more than two brackets in one entry (whose order is Slurm's
// secret).
std::optional<std::vector<std::string>> expand_node_list(std::string_view list);

// "2(x3),1" is 2 2 2 1. None: no such list, or more than 65536 nodes.
std::optional<std::vector<int>> expand_task_counts(std::string_view counts);

}  // namespace paddle_launch
