// SPDX-License-Identifier: Apache-2.0
// The environment that Paddle's readers of 2.0 to 3.x find in a job with parameter servers, and on
// request the one of Paddle's first cluster documents. Every name is written in the .cc file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/plan/paddle_env.h"

namespace paddle_launch {

// The variables of Paddle's first cluster documents ("分布式训练快速开始"), for scripts of that
// time. A heterogeneous worker has no role there and gets none.
void add_old_variables(const ServerWorld& world, const RoleProcess& process,
                       std::vector<EnvVar>& env);

// Names of those variables that speak of one process, and so must not be inherited by others.
bool is_of_one_old_process(std::string_view name);

PaddleEnv common_server_env(const ServerWorld& world, const ServerSpec& spec,
                            const PaddleEnvSettings& settings);

// Of one process of this pod. Servers get back what the user says of visible cards.
std::vector<EnvVar> role_env(const ServerWorld& world, const ServerSpec& spec,
                             const RoleProcess& process, const CardsOfNode& cards,
                             const Environment& user);

}  // namespace paddle_launch
