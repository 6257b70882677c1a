// SPDX-License-Identifier: Apache-2.0
// docs/logs-and-ranks.md says who gets which rank.
#include "launcher/plan/world.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

int node_of(const Roster& roster, std::size_t pod) {
  return roster.node_of.empty() ? static_cast<int>(pod) : roster.node_of.at(pod);
}

const std::string& name_of_my_node(const Roster& roster) {
  std::size_t first = roster.mine;
  while (first > 0 && node_of(roster, first - 1) == node_of(roster, roster.mine)) --first;
  const std::string& name = roster.pods.at(first).name;
  return name.empty() ? roster.pods.at(roster.mine).name : name;
}

WorldPlan plan_world(const Roster& roster, int store_port) {
  WorldPlan world;
  const PodOffer& me = roster.pods.at(roster.mine);
  const int my_node = node_of(roster, roster.mine);
  world.nodes = node_of(roster, roster.pods.size() - 1) + 1;
  world.pod_name = name_of_my_node(roster);
  world.card_kind = me.card_kind;
  world.master = roster.pods.front().host + ":" + std::to_string(roster.pods.front().master_port);
  int local_rank = 0;
  for (std::size_t i = 0; i < roster.pods.size(); ++i) {
    const PodOffer& pod = roster.pods[i];
    const int node = node_of(roster, i);
    if (i > 0 && node != node_of(roster, i - 1)) local_rank = 0;
    if (i == roster.mine) {
      world.first_mine = static_cast<int>(world.trainers.size());
      world.my_count = static_cast<int>(pod.trainers.size());
      world.first_on_node = local_rank == 0;
    }
    for (const TrainerOffer& offer : pod.trainers) {
      world.trainers.push_back({.rank = static_cast<int>(world.trainers.size()),
                                .local_rank = local_rank++,
                                .node = node,
                                .endpoint = pod.host + ":" + std::to_string(offer.port),
                                .cards = offer.cards});
    }
    if (node == my_node) world.local_size = local_rank;
  }
  const bool has_rank_zero = roster.mine == 0;
  if (store_port != 0 && has_rank_zero && world.trainers.size() > 1) {
    world.store = me.host + ":" + std::to_string(store_port);
  }
  return world;
}

namespace {

void check_whole(const std::vector<RoleProcess>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name.index == static_cast<int>(i)) continue;
    throw LaunchError(
        fmt::format("the nodes do not make up one list: place {} of a role is {}; give every node "
                    "the same lists of servers and workers",
                    i, list[i].name.index > static_cast<int>(i) ? "empty" : "there twice"));
  }
}

}  // namespace

ServerWorld plan_server_world(const Roster& roster, std::optional<int> http_port) {
  const auto names = names_of_pods(roster);
  ServerWorld world;
  world.my_pod = roster.mine;
  world.nodes = node_of(roster, roster.pods.size() - 1) + 1;
  world.pod_name = name_of_my_node(roster);
  world.first_on_node =
      roster.mine == 0 || node_of(roster, roster.mine - 1) != node_of(roster, roster.mine);
  std::map<std::pair<int, Role>, int> on_node;
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    const PodOffer& offer = roster.pods[pod];
    for (std::size_t i = 0; i < offer.roles.size(); ++i) {
      const RoleOffer& process = offer.roles[i];
      world.of(process.role)
          .push_back({.name = names[pod][offer.trainers.size() + i],
                      .stage = process.stage,
                      .pod = pod,
                      .on_node = on_node[{node_of(roster, pod), process.role}]++,
                      .host = offer.host,
                      .port = process.port});
    }
  }
  for (const Role role : kAllRoles) {
    std::vector<RoleProcess>& list = world.of(role);
    std::stable_sort(list.begin(), list.end(), [](const RoleProcess& one, const RoleProcess& two) {
      return one.name.index < two.name.index;
    });
    check_whole(list);
  }
  if (!world.servers.empty()) {
    const RoleProcess& first = world.servers.front();
    world.gloo_endpoint =
        fmt::format("{}:{}", first.host, http_port.value_or(roster.pods.at(first.pod).master_port));
  }
  return world;
}

}  // namespace paddle_launch
