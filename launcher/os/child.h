// SPDX-License-Identifier: Apache-2.0
// What every child has in common that goes on in our own program: how it is made, what it holds of
// the launcher's, and how its end is waited for without ever blocking for long.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

namespace paddle_launch {

// Signals stay blocked from before the fork on: a handler of the launcher's must not run in the
// child, where the descriptor it writes to belongs to something else, and nothing but SIGKILL ends
// it before the launcher does. `work` gets the launcher's process id and must not return. Throws
// std::system_error.
pid_t fork_with_signals_blocked(const std::function<void(pid_t launcher)>& work);

// Reaps it if it is dead. True as well for what somebody else has reaped: it is no child of ours
// any more, and its number may be a stranger's, who must not be killed.
bool is_gone(pid_t child, int* status = nullptr);
bool is_gone_within(pid_t child, std::chrono::milliseconds patience, int* status = nullptr);

// After a fork without exec: lets go of every descriptor that the child has no use for. Keeps 0, 1,
// 2 and the given ones.
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
