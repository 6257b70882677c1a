// SPDX-License-Identifier: Apache-2.0
// --status, --scale and --stop: a short visit to the etcd server of a running elastic job.
#pragma once

#include <string>

#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Returns what there is to print. Throws NodeMissing where etcd does not answer, LaunchError where
// there is no such job, UsageError where the job does not allow it.
std::string carry_out(const JobOrder& order);

}  // namespace paddle_launch
