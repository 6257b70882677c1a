// SPDX-License-Identifier: Apache-2.0
// After a fork without exec: lets go of every descriptor that the child has no use for.
#pragma once

#include <vector>

namespace paddle_launch {

// Keeps 0, 1, 2 and the given ones.
void close_all_but(std::vector<int> kept);

// The same, one by one: what close_all_but does on kernels without close_range (before 5.9).
void close_one_by_one_but(const std::vector<int>& kept);

}  // namespace paddle_launch
