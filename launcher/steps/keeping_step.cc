// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/keeping_step.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "launcher/site/port_users.h"

namespace paddle_launch {
namespace {

// By their ports: servers of this pod that others look for elsewhere than on their own machine.
std::map<int, const RoleProcess*> servers_for_others(const ServerWorld& world) {
  std::map<int, const RoleProcess*> servers;
  for (const RoleProcess& server : world.servers) {
    const bool is_local = server.host.starts_with("127.") || server.host == "localhost";
    if (server.pod == world.my_pod && world.nodes > 1 && !is_local) servers[server.port] = &server;
  }
  return servers;
}

}  // namespace

ConductorSettings conductor_settings(const ServerWorld& world, const ServerSpec& spec) {
  ConductorSettings settings{.pod = static_cast<int>(world.my_pod),
                             .start_at_once = spec.with_gloo == "1" || spec.with_gloo == "2",
                             .server_wait = spec.server_wait};
  for (const RoleProcess& server : world.servers) {
    settings.all_servers.push_back(server.endpoint());
    if (server.pod != world.my_pod) continue;
    settings.own_servers.push_back(server.name.index);
    settings.own_ports.push_back(server.port);
  }
  for (const RoleProcess& worker : world.workers) {
    settings.pods_with_workers.insert(static_cast<int>(worker.pod));
  }
  return settings;
}

ListeningPorts look_for_servers(const ServerWorld& world,
                                std::function<void(const std::string&)> warn) {
  return [servers = servers_for_others(world),
          warn = std::move(warn)](const std::vector<int>& wanted) {
    std::set<int> found = listening_ports(wanted);
    if (found.empty() || servers.empty()) return found;
    for (const int port : ports_on_loopback_alone(found)) {
      const auto server = servers.find(port);
      if (server == servers.end()) continue;
      warn(fmt::format(
          "server {} ({}) listens where only this machine reaches it: {} is a loopback address in "
          "/etc/hosts here; name its address in the list, or correct /etc/hosts",
          server->second->name.index, server->second->endpoint(), server->second->host));
    }
    return found;
  };
}

}  // namespace paddle_launch
