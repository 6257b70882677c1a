// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/server_world.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/job/pod.h"
#include "launcher/plan/world.h"

namespace paddle_launch {
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
