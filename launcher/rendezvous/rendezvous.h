// SPDX-License-Identifier: Apache-2.0
// How this pod finds the others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launcher/channel/job_channel.h"
#include "launcher/job/pod_offer.h"
#include "launcher/job/roster.h"

namespace paddle_launch {

// All pods are known, and connected for as long as the job runs.
struct Met {
  Roster roster;
  std::unique_ptr<JobChannel> channel;
  std::vector<std::string> warnings;
};

class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  // Blocks until the pods of this round are complete; every pod gets the same order. Throws
  // LaunchError when they do not agree, NodeMissing when one never came.
  virtual Met meet(const PodClaim& claim, const PodOffer& mine) = 0;
};

}  // namespace paddle_launch
