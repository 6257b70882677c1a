// SPDX-License-Identifier: Apache-2.0
// What every child has in common that goes on in our own program: how it is made, and how its end
// is waited for without ever blocking for long.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

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

}  // namespace paddle_launch
