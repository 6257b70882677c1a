// SPDX-License-Identifier: Apache-2.0
// What this launcher offers to the job, and what it has for its own processes: program, cards,
// CPUs, ports, log directory. What is wrong here is found before anybody has met.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/job/pod.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/site/ports.h"

namespace paddle_launch {

// Who asks for an offer, and what it knows of the others before it has met them.
struct OfferRequest {
  const JobSpec& job;
  const Environment& env;
  const Machine& here;
  std::optional<std::size_t> place{};  // among the pods, from a scheduler; none: to be found out
  NodeShare share{};
  bool has_others = false;  // other pods, which are not to wait in vain for one with a problem
};

struct Offer {
  OwnNode me{};
  PodOffer pod{};     // for the others
  PodMeans means{};   // for its own processes
  PortLease ports{};  // as long as the processes need them
  std::vector<std::string> warnings{};

  // What is wrong on this node is not thrown at once: the other nodes are to hear of it, instead of
  // waiting for a node that will never come.
  std::exception_ptr problem{};
  std::string problem_text{};
  int problem_status = 1;  // that the launch ends with
};

Offer make_offer(const OfferRequest& request);

// For the next round: new ports, and whatever else may have changed meanwhile. Throws what is
// wrong.
void renew_offer(const OfferRequest& request, Offer& offer);

Roster assumed_roster(const JobSpec& job, const Machine& here, const Offer& offer);

}  // namespace paddle_launch
