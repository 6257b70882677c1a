// SPDX-License-Identifier: Apache-2.0
// What the plans of all modes have in common.
#pragma once

#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/start_method.h"
#include "launcher/plan/paddle_env.h"
#include "launcher/plan/pod_plan.h"

namespace paddle_launch {

// A plan of this program, as yet without processes.
PodPlan new_plan(const Program& program, const PaddleEnvSettings& settings);

// What the processes share, and what they inherit: nothing that is in `own`, which some of them set
// for themselves.
void add_environment(PaddleEnv env, const std::vector<EnvVar>& own, const Environment& user,
                     const PaddleEnvSettings& settings, PodPlan& plan);

}  // namespace paddle_launch
