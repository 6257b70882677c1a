// SPDX-License-Identifier: Apache-2.0
// What a node of a job with parameter servers finds out about itself: which processes are its own,
// their ports, and the cards for its workers.
#pragma once

#include <string>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/steps/preparation.h"

namespace paddle_launch {

// Fills offer, ports, cards and warnings. `is_first`: server 0 may be here, which lets Gloo's peers
// meet. Throws UsageError and LaunchError.
void prepare_roles(const JobSpec& job, const Environment& env, const std::string& host,
                   const NodeShare& share, bool is_first, Preparation& ready);

}  // namespace paddle_launch
