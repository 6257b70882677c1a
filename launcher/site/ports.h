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

// Which port numbers may be handed out at all. The kernel gives ports of its ephemeral range to
// outgoing connections at any moment, so a port found free there may be gone before a trainer
// listens on it.
struct PortSpan {
  int first = 0;
  int last = 0;  // inclusive

  bool operator==(const PortSpan&) const = default;
};

// Enough spans for `needed` ports outside the ephemeral range, from 20000 on if possible and never
// below 10000; where that range leaves too little, ports inside it, with a warning. --port_range is
// taken as it is.
std::vector<PortSpan> port_candidates(const PortWish& wish, int needed,
                                      std::vector<std::string>& warnings,
                                      const std::string& proc_root);

int count_ports(const std::vector<PortSpan>& spans);
int port_at(const std::vector<PortSpan>& spans, int place);
std::string format_spans(const std::vector<PortSpan>& spans);  // "20000-32767, 61000-65535"

}  // namespace paddle_launch
