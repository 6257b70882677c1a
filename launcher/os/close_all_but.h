// SPDX-License-Identifier: Apache-2.0
// After a fork without exec: lets go of every descriptor that the child has no use for.
#pragma once

#include <vector>

namespace paddle_launch {

// Keeps 0, 1, 2 and the given ones.
void close_all_but(std::vector<int> kept);

// What becomes of a child's stdout and stderr.
enum class ChildOutput { Nowhere, Stderr };  // Stderr: both go where the launcher's stderr goes
constexpr int kOnlyDescriptor = 3;

// Leaves a child with 0, 1, 2 (/dev/null, but for `output`) and `fd`, which is kOnlyDescriptor then
// and closed on exec. False: that could not be done.
bool keep_only(int fd, ChildOutput output = ChildOutput::Nowhere);

// The same as close_all_but, one by one: what it does on kernels without close_range (before 5.9).
void close_one_by_one_but(const std::vector<int>& kept);

}  // namespace paddle_launch
