// SPDX-License-Identifier: Apache-2.0
#include "launcher/keeping_step.h"

namespace paddle_launch {

ConductorSettings conductor_settings(const ServerWorld& world, const ServerSpec& spec) {
  ConductorSettings settings{.pod = static_cast<int>(world.my_pod),
                             .start_at_once = spec.with_gloo != "0",
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

}  // namespace paddle_launch
