// SPDX-License-Identifier: Apache-2.0
// What one pod (one launcher) brings to the job, and what it was told about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/role.h"

namespace paddle_launch {

// One trainer's share: the cards it owns (none: CPU) and the port it will listen on.
struct TrainerOffer {
  std::vector<Card> cards;
  int port = 0;

  bool operator==(const TrainerOffer&) const = default;
};

// One process in a job with parameter servers.
struct RoleOffer {
  Role role = Role::Trainer;
  int stage = 1;   // of a heterogeneous worker: 2 or more
  int index = -1;  // its place in the list of its role; -1: as the pods stand in the roster
  int port = 0;

  bool operator==(const RoleOffer&) const = default;
};

struct PodOffer {
  std::string name;                    // six letters, as POD_NAME
  std::string host;                    // as it stands in endpoints
  std::optional<CardKind> card_kind;   // none: CPU
  std::vector<TrainerOffer> trainers;  // of a collective job
  std::vector<RoleOffer> roles{};      // of a job with parameter servers
  int master_port = 0;                 // offered for PADDLE_MASTER, or for Gloo's meeting point

  bool operator==(const PodOffer&) const = default;
};

// PodClaim::layout of a job that is like a collective one but for the names in its environment.
constexpr std::string_view kRpcLayout = "--run_mode=rpc";

// What must be the same on every node, or differ in a known way. Compared by the hub.
struct PodClaim {
  std::string version{};           // of the launcher
  std::string machine{};           // host name, for messages
  int pid = 0;                     // of the launcher, for messages
  std::vector<std::string> ips{};  // as typed; none: the nodes meet at --master
  int nodes = 1;
  std::optional<int> place{};  // position in --ips, or --rank; in an elastic job that of `round`
  int round = 0;               // the last one in which this pod took part
  bool sort_ip = false;
  bool check = false;      // --check
  std::string layout{};    // the servers and workers that were asked for; empty: collective
  std::string name{};      // what this pod is called in messages; empty: its node
  std::string command{};   // the script and its arguments
  std::string problem{};   // why this pod cannot start anything; empty: it can
  int problem_status = 1;  // what it would end with by itself

  bool operator==(const PodClaim&) const = default;
};

}  // namespace paddle_launch
