// SPDX-License-Identifier: Apache-2.0
// How this pod finds the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// All pods are known, and connected for as long as the job runs.
struct Met {
  Roster roster;
  std::unique_ptr<Session> channel;
  std::vector<std::string> warnings;
  std::string payload{};  // what the first pod had for everyone
  RoundState round{};
};

// Asked on the first pod alone, once the size of the world is known: bytes for all pods.
// `own_address`: where the others reach this pod.
using PayloadMaker = std::function<std::string(int trainers, std::uint32_t own_address)>;

// How much longer a member waits than its hub, which knows who is missing and is the first to lose
// its patience.
constexpr std::chrono::seconds kPatienceWithHub{10};

class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  // Blocks until the pods of this round are complete; every pod gets the same order. Throws
  // LaunchError when they do not agree, NodeMissing when one never came.
  virtual Met meet(const JobTerms& terms, const PodOffer& mine, const PayloadMaker& payload) = 0;
};

}  // namespace paddle_launch
