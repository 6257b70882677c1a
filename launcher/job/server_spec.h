// SPDX-License-Identifier: Apache-2.0
// What the user asked for of a job with parameter servers. For each role there is either a list of
// the whole job's endpoints, or a number for each node.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/role.h"

namespace paddle_launch {

// One process for each launcher, chosen by the variables of Paddle's first cluster documents
// (PADDLE_TRAINING_ROLE and its relatives).
struct OldRole {
  ProcessName mine{};
  std::vector<std::string> server_hosts{};  // PADDLE_PSERVER_IPS
  int port = 6174;                          // PADDLE_PSERVER_PORT, of every server
  int trainers = 1;                         // PADDLE_TRAINERS

  int pods() const { return static_cast<int>(server_hosts.size()) + trainers; }
  // Servers first, then trainers.
  int place() const {
    return mine.role == Role::Server ? mine.index
                                     : static_cast<int>(server_hosts.size()) + mine.index;
  }
  bool operator==(const OldRole&) const = default;
};

struct ServerSpec {
  std::vector<std::string> servers{};  // host:port, as typed
  std::vector<std::string> workers{};
  std::vector<std::vector<std::string>> heter_workers{};  // by stages, from stage 2 on
  int server_num = 0;                                     // of each node; 0 where there is a list
  int worker_num = 0;
  std::vector<int> heter_worker_num{};       // by stages
  std::vector<std::string> heter_devices{};  // by stages: cpu, gpu or xpu

  std::optional<int> http_port{};  // of Gloo's meeting point, on the first server's node
  std::string http_port_source{};  // "--http_port", "--gloo_port" or a variable
  std::string with_gloo = "0";     // PADDLE_WITH_GLOO
  std::chrono::milliseconds server_wait{10'000};
  bool legacy_env = false;  // the variables of the first cluster documents are set as well

  std::optional<OldRole> old_role{};
  // PaddleCloud started this one process, or a job is one worker without servers: the script runs
  // once, in the environment as it is. The lists are for endpoints.log alone.
  std::optional<ProcessName> as_it_is{};

  int heter_stages() const {
    return static_cast<int>(heter_workers.empty() ? heter_worker_num.size() : heter_workers.size());
  }
  bool operator==(const ServerSpec&) const = default;
};

}  // namespace paddle_launch
