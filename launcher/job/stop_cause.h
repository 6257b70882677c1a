// SPDX-License-Identifier: Apache-2.0
// Why the job stops, as every node learns it. The first one in time is the verdict.
#pragma once

#include <chrono>
#include <string>

namespace paddle_launch {

using SteadyTime = std::chrono::steady_clock::time_point;

struct StopCause {
  enum class Kind {
    Completed,
    WorkerFailed,
    NotStarted,
    Interrupted,
    GuardLost,
    PodLost,
    NodesChange,  // of an elastic job: the next round has other nodes
    StoppedFromOutside,
    LauncherFailed,  // a bug of its own, while trainers ran
  };

  Kind kind = Kind::Completed;
  int node = 0;        // the pod's place in the roster
  int status = 0;      // what every launcher of the job exits with
  std::string text{};  // one line: "rank 5 on 192.168.0.2 failed: exit code 7"
  SteadyTime at{};     // on the clock of whoever holds this value

  bool operator==(const StopCause&) const = default;
};

}  // namespace paddle_launch
