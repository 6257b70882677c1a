// SPDX-License-Identifier: Apache-2.0
// For --dry_run, which asks nobody: the other nodes as they would be if they were like this one.
#pragma once

#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/site/machine.h"
#include "launcher/site/offer.h"

namespace paddle_launch {

Roster assumed_roster(const JobSpec& job, const Machine& here, const Offer& offer);

}  // namespace paddle_launch
