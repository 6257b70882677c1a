// SPDX-License-Identifier: Apache-2.0
// By what launchers of one job know each other.
#pragma once

#include <string>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/site/machine.h"

namespace paddle_launch {

// With a secret that comes later, through the scheduler.
ChannelIdentity scheduled_identity(const JobSpec& job, const Machine& here);

// The secret from the user's token, or from what everybody could know. Adds a notice where the
// channel is not protected. Throws UsageError for a token that cannot be used.
ChannelIdentity typed_identity(const JobSpec& job, const Environment& env, const Machine& here,
                               std::vector<std::string>& notices);

// In a step of Slurm without PMIx: the hub makes a secret and shows it in a credential that MUNGE
// opens for this user alone; without MUNGE, or where the user has a token, as typed_identity.
ChannelIdentity step_identity(const JobSpec& job, const Environment& env, const Machine& here,
                              const SlurmStep& step, std::vector<std::string>& notices);

}  // namespace paddle_launch
