// SPDX-License-Identifier: Apache-2.0
// Whether tasks that a scheduler started together fit into one job, pure. Every task compares the
// same offers and comes to the same answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/message.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/site/launch_values.h"

namespace paddle_launch {

// What is wrong, with the status that all end with; it names the nodes and both values. `node_of`:
// of each pod.
std::optional<RefusalMessage> task_disagreement(const std::vector<OfferMessage>& pods,
                                                const std::vector<int>& node_of);

// Where --ips, --master or --nnodes say something else than the scheduler, whose word counts.
std::vector<std::string> contradictions(const Launch& launch, const TaskGroup& group,
                                        const Roster& roster);

}  // namespace paddle_launch
