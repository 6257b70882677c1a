// SPDX-License-Identifier: Apache-2.0
// What the conductor of a job with parameter servers is told about it.
#pragma once

#include "launcher/job/server_spec.h"
#include "launcher/job/server_world.h"
#include "launcher/run/conductor.h"

namespace paddle_launch {

ConductorSettings conductor_settings(const ServerWorld& world, const ServerSpec& spec);

}  // namespace paddle_launch
