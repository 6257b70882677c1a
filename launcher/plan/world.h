// SPDX-License-Identifier: Apache-2.0
// Ranks, endpoints and the master of the whole job, from the roster.
#pragma once

#include "launcher/job/roster.h"
#include "launcher/job/world_plan.h"

namespace paddle_launch {

// rank = M_id * N + N_id: pods in the roster's order, cards in the order given on each.
WorldPlan plan_world(const Roster& roster);

}  // namespace paddle_launch
