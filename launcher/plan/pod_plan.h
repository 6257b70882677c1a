// SPDX-License-Identifier: Apache-2.0
// All that one pod needs to know for a round, whatever the mode of the job, and what the plans of
// all modes have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/environment.h"
#include "launcher/job/plan.h"
#include "launcher/job/role.h"
#include "launcher/job/start_method.h"
#include "launcher/plan/paddle_env.h"

namespace paddle_launch {

struct StoreRelayPlace {
  std::string host;  // the others connect to here,
  int port = 0;      // on this port
  int store_port = 0;
};

struct PodPlan {
  ProcessPlan processes{};
  std::string log_dir{};             // absolute; empty: there are no logs
  std::vector<EnvVar> backup_env{};  // goes into the file backup_path, when that is not empty
  std::string backup_path{};
  std::string endpoints_log{};           // what that file is to say
  bool first_on_node = true;             // of several pods of a node, one writes what they share
  std::optional<CardKind> card_kind{};   // none: CPU
  std::string hosts{};                   // of all nodes, with commas; only where there are several
  std::optional<ServerWorld> servers{};  // in a job with parameter servers, whose pods keep step
  std::optional<StoreRelayPlace>
      store_relay{};  // rank 0 is here, and its store is behind our relay
};

// Which file a process writes into. DIR/workerlog.3, DIR/serverlog.0, DIR/heterlog.1; empty where
// there is no directory: the process then writes straight to the console.
std::string log_path(const std::string& log_dir, ProcessName name);

// A plan of this program, as yet without processes.
PodPlan new_plan(const Program& program, const PaddleEnvSettings& settings);

// What the processes share, and what they inherit: nothing that is in `own`, which some of them set
// for themselves.
void add_environment(PaddleEnv env, const std::vector<EnvVar>& own, const Environment& user,
                     const PaddleEnvSettings& settings, PodPlan& plan);

}  // namespace paddle_launch
