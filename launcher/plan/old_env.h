// SPDX-License-Identifier: Apache-2.0
// The variables of Paddle's first cluster documents ("分布式训练快速开始"), for scripts of that
// time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/plan.h"

namespace paddle_launch {

// A heterogeneous worker has no role there and gets none.
void add_old_variables(const ServerWorld& world, const RoleProcess& process,
                       std::vector<EnvVar>& env);

// Names of those variables that speak of one process, and so must not be inherited by others.
bool is_of_one_old_process(std::string_view name);

// Why these servers cannot be told in the old way, which has one port for all and one server a
// host; none: they can.
std::optional<std::string> not_for_old_variables(const std::vector<std::string>& servers);

}  // namespace paddle_launch
