// SPDX-License-Identifier: Apache-2.0
// A pod is what one launcher looks after: how it is called, what it offers to the job, and the
// roster of all pods in one agreed order.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/role.h"

namespace paddle_launch {

// POD_NAME: letters by which a pod is told from all others, of this job and of any.

constexpr std::size_t kPodNameLetters = 6;  // of lower case, as Paddle's pods have

inline std::string random_pod_name() {
  std::random_device entropy;
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string name(kPodNameLetters, ' ');
  for (char& c : name) c = static_cast<char>(letter(entropy));
  return name;
}

// This launcher's place among the launchers of its node: one a node, or one a card.
struct NodeShare {
  int local = 0;           // 0 … launchers-1
  int launchers = 1;       // on this node
  bool own_cards = false;  // the cards that this launcher sees are its alone

  bool operator==(const NodeShare&) const = default;
};

// How many trainers of the node stand before this launcher's, each launcher having `trainers`: with
// --start_port its first port is that many further.
inline int first_of_share(const NodeShare& share, int trainers) { return share.local * trainers; }

// How far TCP's ports go: told by everything that reads, gives out or sends one.

constexpr int kLastPort = 65535;

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

// JobTerms::layout of a job that is like a collective one but for the names in its environment.
constexpr std::string_view kRpcLayout = "--run_mode=rpc";

// What must be the same on every node, or differ in a known way. Compared by the hub.
struct JobTerms {
  std::string version{};           // of the launcher
  std::string machine{};           // host name, for messages
  int pid = 0;                     // of the launcher, for messages
  std::vector<std::string> ips{};  // as typed; none: the nodes meet at --master
  int nodes = 1;
  std::optional<int> place{};  // position in --ips, or --rank; in an elastic job that of `round`
  int round = 0;               // the last one in which this pod took part
  bool sort_ip = false;
  bool check = false;           // --check
  std::string layout{};         // the servers and workers that were asked for; empty: collective
  std::string name{};           // what this pod is called in messages; empty: its node
  std::string command{};        // the script and its arguments
  std::string script_digest{};  // of what is in it; empty: not known
  bool other_command = false;   // it came to this hub because there was none with its own command
  std::string problem{};        // why this pod cannot start anything; empty: it can
  int problem_status = 1;       // what it would end with by itself

  bool operator==(const JobTerms&) const = default;
};

// All pods of the job in one agreed order, and which of them is this launcher.
struct Roster {
  std::vector<PodOffer> pods;
  std::size_t mine = 0;
  // The node of each pod, ascending from 0 without a gap; empty: each pod is a node of its own.
  std::vector<int> node_of{};

  bool shares_its_node(std::size_t pod) const {
    const auto is_same = [&](std::size_t other) {
      return other < node_of.size() && node_of[other] == node_of[pod];
    };
    return pod < node_of.size() && (is_same(pod + 1) || (pod > 0 && is_same(pod - 1)));
  }

  bool operator==(const Roster&) const = default;
};

// Which processes of the job each pod has, by the names that everybody knows them by. For each pod,
// in the order of its trainers, then of its roles. Places that nobody asked for are given in the
// roster's order, heterogeneous workers by stages first.
std::vector<std::vector<ProcessName>> names_of_pods(const Roster& roster);

}  // namespace paddle_launch
