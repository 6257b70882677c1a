// SPDX-License-Identifier: Apache-2.0
// How this pod finds the others, for the first round and for each later one. Five ways: alone, over
// TCP where the nodes are named, with the help of whoever started the launchers as tasks (through
// plugins, or by what Slurm says about its step), and through etcd where nodes come and go. All
// pass tests/contract.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/pod.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/site/offer.h"

namespace paddle_launch {

// All pods of a round are known, and connected.
struct Gathered {
  Roster roster;
  std::vector<std::string> warnings{};
  std::vector<std::string> notices{};
  std::string payload{};  // what the first pod had for everyone
  RoundState round{};
};

// Asked on the first pod alone, once the size of the world is known: bytes for all pods.
// `own_address`: where the others reach this pod.
using PayloadMaker = std::function<std::string(int trainers, std::uint32_t own_address)>;

// What this pod brings to a round.
struct Brought {
  NextRound next{};  // what the verdict over the last round said; empty before the first
  const Offer& offer;
  const PayloadMaker& payload;
  bool has_ids = false;  // of NCCL, in the payload
};

// How much longer a member waits than its hub, which knows who is missing and is the first to lose
// its patience.
constexpr std::chrono::seconds kPatienceWithHub{10};

class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  // Those that a scheduler started together, in Paddle's order; null: nobody did. They share one
  // console.
  virtual const TaskGroup* tasks() const { return nullptr; }
  bool speaks() const { return tasks() == nullptr || tasks()->mine == 0; }
  // There may be other pods, which are not to wait in vain for one with a problem.
  virtual bool has_others() const { return true; }

  // Blocks until the pods of the round are complete; every pod gets the same order, and whoever was
  // in the last round keeps its place. Throws LaunchError when the pods do not agree, NodeMissing
  // when one never came.
  virtual Gathered gather(const Brought& brought) = 0;
  // After the first gathering.
  virtual Session& session() = 0;
  // Of the round that begins; none: nothing outside of it can change it.
  virtual RoundWatch* watch() { return nullptr; }

  // Between two rounds, in the place of a pod that went.
  virtual bool others_may_come() const { return false; }
  // This pod cannot go on, and the others do not wait for it.
  virtual void call_off(int status, const std::string& why) { session().call_off(status, why); }
  // This pod takes part no longer. `job_is_over`: nor does any other.
  virtual void leave(bool /*job_is_over*/) {}
};

}  // namespace paddle_launch
