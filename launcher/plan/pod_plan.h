// SPDX-License-Identifier: Apache-2.0
// All that one pod needs to know for a round, whatever the mode of the job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

struct DoorOfStore {
  std::string host;  // the others knock here,
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
  std::optional<DoorOfStore> store_door{};  // rank 0 is here, and its store is behind our door
};

}  // namespace paddle_launch
