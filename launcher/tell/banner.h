// SPDX-License-Identifier: Apache-2.0
// The opening of the console, in the layout of Paddle's documentation ("fleetrun 启动分布式任务"):
// the arguments, and the environment of the first process.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/job/plan.h"

namespace paddle_launch {

// Sorted by key. An empty value shows as "key:".
std::string argument_banner(std::vector<std::pair<std::string, std::string>> arguments);

// Two columns under rules without a box; values of 45 and more characters lose their beginning.
std::string environment_table(std::vector<EnvVar> env);

}  // namespace paddle_launch
