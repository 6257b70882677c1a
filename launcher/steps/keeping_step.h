// SPDX-License-Identifier: Apache-2.0
// What the conductor of a job with parameter servers is told about it.
#pragma once

#include <functional>
#include <string>

#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/run/conductor.h"

namespace paddle_launch {

ConductorSettings conductor_settings(const ServerWorld& world, const ServerSpec& spec);

// Looks which servers of this pod listen. Warns of one that the other nodes cannot reach.
ListeningPorts look_for_servers(const ServerWorld& world,
                                std::function<void(const std::string&)> warn);

}  // namespace paddle_launch
