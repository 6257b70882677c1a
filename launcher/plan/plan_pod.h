// SPDX-License-Identifier: Apache-2.0
// The whole plan of one pod for one round, in any mode.
#pragma once

#include "launcher/job/ending.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/job/plan.h"
#include "launcher/job/pod.h"
#include "launcher/plan/pod_plan.h"

namespace paddle_launch {

// What counts besides, and is known when the pods have met.
struct RoundFacts {
  RoundState round{};
  NcclIds nccl{};                // from the first pod
  bool under_scheduler = false;  // mpirun, mpiexec or srun started this launcher
  bool has_terminal = false;     // a person may be typing at our input
};

PodPlan plan_pod(const JobSpec& job, const Environment& env, const PodMeans& means,
                 const Roster& roster, const RoundFacts& facts);

}  // namespace paddle_launch
