// SPDX-License-Identifier: Apache-2.0
// What this node says about the job, so that the hub can compare.
#pragma once

#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/site/offer.h"

namespace paddle_launch {

// `tasks`: those that a scheduler started; null: nobody did.
JobTerms terms_of(const JobSpec& job, const Machine& here, const Offer& offer,
                  const TaskGroup* tasks);

}  // namespace paddle_launch
