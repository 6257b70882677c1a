// SPDX-License-Identifier: Apache-2.0
// The guard's lock on a log: two jobs that write into one file would take each other's lines for
// their own. A lock of the process (fcntl), so that no trainer inherits it, the kernel names who
// has it, NFS knows it, and it is gone with the guard.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace paddle_launch {

// The name of a guard that stops its processes, as whoever waits for its logs sees it.
constexpr const char* kStoppingGuard = "pl-guard-stops";

enum class LockTry { Ours, Taken, NotSupported };

// `grace`: how long we may take to stop; whoever finds the log taken learns it. Closing any
// descriptor of the file gives the lock back.
LockTry try_lock(int log, std::chrono::milliseconds grace);

struct LogHolder {
  std::string text;         // "pid 4711 (paddle-launch train.py), since 2022-08-17 13:05:02"
  bool may_let_go = false;  // it stops, or cannot be seen from here
  std::chrono::milliseconds grace{0};  // the time that it gives its processes
};

// None: nobody, by now.
std::optional<LogHolder> holder_of(int log);

}  // namespace paddle_launch
