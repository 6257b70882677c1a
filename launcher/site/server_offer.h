// SPDX-License-Identifier: Apache-2.0
// What one pod starts of a job with parameter servers, before anybody has met: which servers and
// workers, at which ports, with which cards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/job_spec.h"
#include "launcher/job/pod.h"
#include "launcher/site/offer.h"

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

// Why these servers cannot be told in the old way, which has one port for all and one server a
// host; none: they can.
std::optional<std::string> not_for_old_variables(const std::vector<std::string>& servers);

// Fills pod, ports, cards and warnings. `is_first`: server 0 may be here, which lets Gloo's peers
// meet. Throws UsageError and LaunchError.
void offer_roles(const OfferRequest& request, bool is_first, Offer& offer);

}  // namespace paddle_launch
