// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/world.h"

namespace paddle_launch {

WorldPlan plan_world(const Roster& roster) {
  WorldPlan world;
  const PodOffer& me = roster.pods.at(roster.mine);
  world.nodes = static_cast<int>(roster.pods.size());
  world.pod_name = me.name;
  world.card_kind = me.card_kind;
  world.master = roster.pods.front().host + ":" + std::to_string(roster.pods.front().master_port);
  for (std::size_t node = 0; node < roster.pods.size(); ++node) {
    const PodOffer& pod = roster.pods[node];
    if (node == roster.mine) {
      world.first_mine = static_cast<int>(world.trainers.size());
      world.my_count = static_cast<int>(pod.trainers.size());
    }
    int local_rank = 0;
    for (const TrainerOffer& offer : pod.trainers) {
      world.trainers.push_back({.rank = static_cast<int>(world.trainers.size()),
                                .local_rank = local_rank++,
                                .node = static_cast<int>(node),
                                .endpoint = pod.host + ":" + std::to_string(offer.port),
                                .cards = offer.cards});
    }
  }
  return world;
}

}  // namespace paddle_launch
