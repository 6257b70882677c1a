// SPDX-License-Identifier: Apache-2.0
// The plan of a pod for a round in any mode, and what the plans of all modes have in common.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/ending.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/job/plan.h"
#include "launcher/job/pod.h"
#include "launcher/job/role.h"
#include "launcher/job/start_method.h"
#include "launcher/plan/paddle_env.h"

namespace paddle_launch {

// Which file a process writes into, unless --log_names says otherwise. DIR/workerlog.3,
// DIR/serverlog.0, DIR/heterlog.1; empty where there is no directory: the process then writes
// straight to the console.
std::string log_path(const std::string& log_dir, ProcessName name);

// A plan of this program, as yet without processes.
PodPlan new_plan(const Program& program, const PaddleEnvSettings& settings);

// What the processes share, and what they inherit: nothing that is in `own`, which some of them set
// for themselves. The hosts of the plan are known by now.
void add_environment(PaddleEnv env, const std::vector<EnvVar>& own, const Environment& user,
                     const PaddleEnvSettings& settings, PodPlan& plan);

// What counts besides, and is known when the pods have met.
struct RoundFacts {
  RoundState round{};
  NcclIds nccl{};                 // from the first pod
  bool under_scheduler = false;   // mpirun, mpiexec or srun started this launcher
  bool has_unread_input = false;  // somebody has written something for us to read
};

// Of one pod for one round, in any mode.
PodPlan plan_pod(const JobSpec& job, const Environment& env, const PodMeans& means,
                 const Roster& roster, const RoundFacts& facts);

}  // namespace paddle_launch
