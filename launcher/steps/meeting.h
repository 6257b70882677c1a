// SPDX-License-Identifier: Apache-2.0
// Brings this node together with the others of its job, and tells a person meanwhile who is
// missing.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/steps/company.h"

namespace paddle_launch {

// By the way that the company has. Adds a line to `notices` where the channel is not protected.
// Throws UsageError for a token that cannot be used.
Met meet_the_others(EventLoop& loop, const JobSpec& job, const Environment& env,
                    const Machine& here, const OwnNode& me, Company& company, const JobTerms& terms,
                    const PodOffer& offer, const PayloadMaker& payload,
                    std::vector<std::string>& notices);

}  // namespace paddle_launch
