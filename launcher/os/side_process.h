// SPDX-License-Identifier: Apache-2.0
// Does a piece of work that may hang (a driver, a dead file system) in a short-lived child, so that
// the launcher never hangs with it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace paddle_launch {

// For work on files: a file system that takes longer is taken for dead.
constexpr std::chrono::seconds kPatienceWithDisk{5};

// What `work` returned; none when it threw, crashed, was not done at the deadline, or when no child
// could be made. The child has no descriptor of the launcher's (0, 1, 2 are /dev/null), so a stuck
// one holds neither the user's pipe nor a port: `work` opens what it needs. All signals are blocked
// in it. A child stuck in the kernel is killed and left behind, never waited for.
std::optional<std::string> run_aside(std::chrono::milliseconds deadline,
                                     const std::function<std::string()>& work);

}  // namespace paddle_launch
