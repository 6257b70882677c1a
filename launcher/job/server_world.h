// SPDX-License-Identifier: Apache-2.0
// Who is who in a job with parameter servers: the same on every pod, except for which pod is mine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "launcher/job/role.h"

namespace paddle_launch {

struct RoleProcess {
  ProcessName name{};
  int stage = 1;        // of a heterogeneous worker: 2 or more
  std::size_t pod = 0;  // whose it is, by its place in the roster
  int on_node = 0;      // its number among those of its role on its node
  std::string host{};
  int port = 0;

  std::string endpoint() const { return host + ":" + std::to_string(port); }
  bool operator==(const RoleProcess&) const = default;
};

struct ServerWorld {
  std::vector<RoleProcess> servers{};  // each list in its order
  std::vector<RoleProcess> workers{};
  std::vector<RoleProcess> heter_workers{};
  std::string gloo_endpoint{};  // where the first server lets Gloo's peers meet
  std::size_t my_pod = 0;
  bool first_on_node = true;  // my pod
  int nodes = 1;
  std::string pod_name{};

  const std::vector<RoleProcess>& of(Role role) const {
    return role == Role::Server ? servers : role == Role::Trainer ? workers : heter_workers;
  }
  std::vector<RoleProcess>& of(Role role) {
    return role == Role::Server ? servers : role == Role::Trainer ? workers : heter_workers;
  }
  bool operator==(const ServerWorld&) const = default;
};

}  // namespace paddle_launch
