// SPDX-License-Identifier: Apache-2.0
// What --check found out: can every node reach every other one's ports.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

// One node's attempt to reach the ports that another one offered.
struct LinkTry {
  int from = 0;  // places in the roster
  int to = 0;
  int port = 0;           // the slowest one, or the first that failed
  double ms = 0;          // until it was connected
  std::string problem{};  // "connection refused", "no answer in 5 s"; empty: good

  bool operator==(const LinkTry&) const = default;
};

// A clock's distance from the hub's, in milliseconds.
struct ClockDifference {
  double ms = 0;
  double error_ms = 0;

  bool operator==(const ClockDifference&) const = default;
};

struct CheckedNode {
  std::string host{};     // as in the endpoints
  std::string machine{};  // its host name
  int trainers = 0;
  int processes = 0;  // of a job with parameter servers, which has no trainers then
  int cards = 0;
  ClockDifference wall_clock{};

  bool operator==(const CheckedNode&) const = default;
};

struct LinkCheck {
  std::vector<CheckedNode> nodes{};  // in the roster's order
  std::vector<LinkTry> tries{};      // every ordered pair of different nodes
  std::vector<int> silent{};         // nodes that were lost during the check
  int seen_by = -1;  // without a hub only this node's own tries are known; -1: everybody's

  bool operator==(const LinkCheck&) const = default;
};

}  // namespace paddle_launch
