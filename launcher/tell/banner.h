// SPDX-License-Identifier: Apache-2.0
// The opening of the console, in the layout of Paddle's documentation ("fleetrun 启动分布式任务"):
// the arguments, and the environment of the first process of each role.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

// Sorted by key. An empty value shows as "key:".
std::string argument_banner(std::vector<std::pair<std::string, std::string>> arguments);

// Two columns under rules without a box; values of 45 and more characters lose their beginning.
std::string environment_table(std::vector<EnvVar> env);

// Both of them, with what only this machine and the others could tell. `user`: the environment that
// the launcher was started with.
void introduce_job(const Voice& voice, const JobSpec& job, const PodPlan& plan,
                   const Environment& user);

}  // namespace paddle_launch
