// SPDX-License-Identifier: Apache-2.0
// Who is who in the whole job, from the roster: ranks and endpoints, or the lists of a job with
// parameter servers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "launcher/job/plan.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// rank = M_id * N + N_id: pods in the roster's order, cards in the order given on each.
// `store_port`: of this host, for rank 0's store, if rank 0 is mine; 0: there is no relay before
// it.
WorldPlan plan_world(const Roster& roster, int store_port = 0);

int node_of(const Roster& roster, std::size_t pod);

// One name for all pods of a node: a launcher for each card gives the trainers the same environment
// as one launcher for all.
const std::string& name_of_my_node(const Roster& roster);

// `http_port`: of Gloo's meeting point; none: the first pod's choice. Throws LaunchError where the
// pods together leave a place of a list empty, or fill one twice.
ServerWorld plan_server_world(const Roster& roster, std::optional<int> http_port);

}  // namespace paddle_launch
