// SPDX-License-Identifier: Apache-2.0
// What one pod starts of a job with parameter servers, before anybody has met.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// `host`: this node as it stands in the lists. Where numbers count for each node, the first of
// several launchers has its servers, and the workers are shared among them. The port is 0 where the
// launcher is to find one.
std::vector<RoleOffer> roles_of_pod(const ServerSpec& spec, const std::string& host,
                                    const NodeShare& share);

// Where --start_port puts a process: servers, workers and heterogeneous workers of a node one after
// the other. `on_node`: its number among those of its role on the node, all stages counted.
int offset_of(const ServerSpec& spec, Role role, int on_node);

// How many processes a node has where numbers count.
int processes_of_node(const ServerSpec& spec);

}  // namespace paddle_launch
