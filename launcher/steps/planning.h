// SPDX-License-Identifier: Apache-2.0
// From all that is known after the meeting to the plan of this pod, whatever the mode of the job.
#pragma once

#include <string>

#include "launcher/job/ending.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/steps/preparation.h"

namespace paddle_launch {

// `under_scheduler`: mpirun, mpiexec or srun started this launcher. `payload`: from the first pod.
PodPlan plan_pod(const JobSpec& job, const Environment& env, const Preparation& ready,
                 const Roster& roster, bool under_scheduler, const std::string& payload,
                 const RoundState& round = {});

}  // namespace paddle_launch
