// SPDX-License-Identifier: Apache-2.0
// Everything that is needed to start this pod's processes; complete before the first is started.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/own_function.h"
#include "launcher/job/role.h"

namespace paddle_launch {

using EnvVar = std::pair<std::string, std::string>;

struct ProcessSpec {
  Role role = Role::Trainer;
  int rank = 0;  // of a trainer; of others the place in the list of their role
  int local_rank = 0;
  std::string endpoint{};
  std::vector<Card> cards{};
  std::vector<EnvVar> env{};  // its own variables, on top of ProcessPlan::common_env
  std::vector<int> cpus{};    // --bind: the CPUs it may use; empty: not bound
  std::string log_path{};
  bool has_stdin = false;

  bool operator==(const ProcessSpec&) const = default;
};

struct ProcessPlan {
  std::string program;                    // absolute path of what is executed
  std::vector<std::string> argv;          // the same for every process
  const OwnFunction* function = nullptr;  // called instead of executing the program
  std::vector<EnvVar> common_env;         // the launcher's variables that all processes share
  std::vector<EnvVar> inherited;          // the user's environment, less what must not be passed on
  std::vector<ProcessSpec> processes;
  int held_back = 0;  // so many, the last ones, are not started before the order comes
  int followed = 0;   // the process that the console shows
  int world_size = 0;
  int servers = 0;  // of the whole job, as the next
  int heter_workers = 0;
  std::string host;  // this node, as it stands in endpoints
  int nodes = 1;     // of the whole job
  int round = 0;     // from 0

  int size_of(Role role) const {
    return role == Role::Trainer ? world_size : role == Role::Server ? servers : heter_workers;
  }
  bool operator==(const ProcessPlan&) const = default;
};

}  // namespace paddle_launch
