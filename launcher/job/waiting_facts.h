// SPDX-License-Identifier: Apache-2.0
// What a launcher knows while it waits for the other nodes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace paddle_launch {

struct WaitingFacts {
  int missing = 0;
  int nodes = 0;                     // 0: the hub has not told yet
  std::vector<std::string> names{};  // the first few of the missing; none: not known by name
  std::chrono::seconds waited{};
  std::string hub{};       // "192.168.0.1:6060-6069" while it is not reached; empty on the hub
  std::string last_try{};  // "connection refused", "no route to host", "name not known", …
  std::vector<std::string> other_jobs{};  // met at the ports: "train.py of user bob (job id x)"
  std::vector<std::string> odd{};         // "a launcher of another version at 10.0.0.3"

  bool operator==(const WaitingFacts&) const = default;
};

}  // namespace paddle_launch
