// SPDX-License-Identifier: Apache-2.0
// The TCP ports of a node's trainers and of PADDLE_MASTER: really free when handed out, and never
// the same for two launchers that run at once on a host.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

// A port that somebody named, and what a message says about it.
struct NamedPort {
  int port = 0;
  std::string whose{};   // "trainer 2", "server 0"
  std::string said{};    // "--start_port=6170"
  std::string remedy{};  // "choose another first port, or …"
};

struct PortWish {
  int count = 1;                             // trainers
  std::optional<int> start;                  // the first trainer's port; the rest follow it
  std::string start_source;                  // who said so: "--start_port" or "FLAGS_START_PORT"
  std::optional<std::pair<int, int>> range;  // --port_range, inclusive
  std::vector<int> given{};        // each trainer's port, more than enough or none; they beat start
  std::string given_source{};      // who said so: "DISTRIBUTED_TRAINER_ENDPOINTS"
  std::vector<NamedPort> named{};  // these besides, and first
  bool store = false;              // one more for rank 0's store, where one is free
};

// Reserved among launchers as long as the lease lives: one descriptor a port.
struct PortLease {
  std::vector<int> trainers;  // first those that were named
  int master = 0;
  int store = 0;  // 0: not wanted, or none was left
  std::vector<UniqueFd> locks;
};

// Throws UsageError for ports that do not exist or are not enough, LaunchError when one is taken or
// too few are free.
PortLease lease_ports(const PortWish& wish, std::vector<std::string>& warnings,
                      const std::string& proc_root = "/proc");

}  // namespace paddle_launch
