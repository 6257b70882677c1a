// SPDX-License-Identifier: Apache-2.0
// The processes of this pod in collective training.
#pragma once

#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/plan.h"
#include "launcher/job/start_method.h"
#include "launcher/plan/paddle_env.h"
#include "launcher/plan/pod_plan.h"

namespace paddle_launch {

// `cpus`: one set for each of my trainers, empty sets when nothing is bound. `give_stdin`: rank 0
// gets ours.
PodPlan plan_collective(const WorldPlan& world, const PaddleEnvSettings& settings,
                        const Program& program, const Environment& user,
                        const std::vector<std::vector<int>>& cpus, bool give_stdin);

}  // namespace paddle_launch
