// SPDX-License-Identifier: Apache-2.0
// The processes of this pod in a job with parameter servers.
#pragma once

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/job/start_method.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/plan/server_env.h"

namespace paddle_launch {

// Servers first: workers are held back until all servers of the job are there.
PodPlan plan_servers(const ServerWorld& world, const JobSpec& job,
                     const PaddleEnvSettings& settings, const PodMeans& means,
                     const Environment& user);

// One process in the environment as it is (ServerSpec::as_it_is).
PodPlan plan_as_it_is(const ServerSpec& spec, const PaddleEnvSettings& settings,
                      const Program& program, const Environment& user);

}  // namespace paddle_launch
