// SPDX-License-Identifier: Apache-2.0
// Who is who in the job, and with what this pod's processes are started.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/role.h"
#include "launcher/job/start_method.h"

namespace paddle_launch {

struct Trainer {
  int rank = 0;
  int local_rank = 0;
  int node = 0;  // M_id
  std::string endpoint;
  std::vector<Card> cards;

  bool operator==(const Trainer&) const = default;
};

// Collective training: who is which rank. The same on every pod, except for the range that is mine.
struct WorldPlan {
  std::vector<Trainer> trainers;  // in rank order, of the whole job
  int first_mine = 0;             // my trainers are [first_mine, first_mine + my_count)
  int my_count = 0;
  int local_size = 0;         // trainers on my node, also those of its other launchers
  bool first_on_node = true;  // my first trainer has local rank 0
  int nodes = 1;
  std::string pod_name;
  std::string master;  // PADDLE_MASTER
  // On the pod of rank 0: rank 0's own PADDLE_MASTER, where its store will listen, while the
  // launcher receives the others at `master`; empty: no such relay.
  std::string store{};
  std::optional<CardKind> card_kind;  // none: CPU

  bool operator==(const WorldPlan&) const = default;
};

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

// Who is who in a job with parameter servers: the same on every pod, except for which pod is mine.
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

// The cards of this node from which its workers take one each, in turns.
struct CardsOfNode {
  std::optional<CardKind> kind{};  // none: CPU
  std::vector<Card> cards{};

  // None: there are no cards, or a server asks.
  const Card* of(const RoleProcess& process) const {
    if (process.name.role == Role::Server || cards.empty()) return nullptr;
    return &cards[static_cast<std::size_t>(process.on_node) % cards.size()];
  }
};

// What a pod has for its own processes, which no other pod needs to know.
struct PodMeans {
  Program program{};
  // Absolute; empty: there are no logs. With --log_dir=auto the parent, until its name is known.
  std::string log_dir{};
  std::vector<std::vector<int>> cpus{};  // --bind: of each trainer
  std::vector<int> omp_threads{};        // of each process; empty: as the user has it
  CardsOfNode cards{};                   // in a job with parameter servers: for the workers
  int store_port = 0;                    // of this host, for rank 0's store; 0: none
};

// How many threads OpenMP, OpenBLAS and MKL start in a process.
constexpr const char* kThreadsVariable = "OMP_NUM_THREADS";

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

// Everything that is needed to start this pod's processes; complete before the first is started.
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

struct StoreRelayPlace {
  std::string host;  // the others connect to here,
  int port = 0;      // on this port
  int store_port = 0;
};

// All that one pod needs to know for a round, whatever the mode of the job.
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
  // Rank 0 is here, and its store is behind our relay.
  std::optional<StoreRelayPlace> store_relay{};
  std::vector<std::string> notices{};  // of this plan, for people
  std::vector<std::string> warnings{};
};

}  // namespace paddle_launch
