// SPDX-License-Identifier: Apache-2.0
// The processes of this pod in collective training.
#pragma once

#include "launcher/job/environment.h"
#include "launcher/job/plan.h"
#include "launcher/plan/paddle_env.h"
#include "launcher/plan/pod_plan.h"

namespace paddle_launch {

// `give_stdin`: rank 0 gets ours.
PodPlan plan_collective(const WorldPlan& world, const PaddleEnvSettings& settings,
                        const PodMeans& means, const Environment& user, bool give_stdin);

}  // namespace paddle_launch
