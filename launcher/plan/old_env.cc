// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/old_env.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/text/endpoint.h"

namespace paddle_launch {
namespace {

// Of one process; the others are the same for all.
constexpr const char* kRole = "PADDLE_TRAINING_ROLE";
constexpr const char* kOwnAddress = "PADDLE_CURRENT_IP";

}  // namespace

void add_old_variables(const ServerWorld& world, const RoleProcess& process,
                       std::vector<EnvVar>& env) {
  const Role role = process.name.role;
  if (role == Role::HeterWorker || world.servers.empty()) return;
  std::vector<std::string> hosts;
  for (const RoleProcess& server : world.servers) hosts.push_back(server.host);
  env.emplace_back(kRole, role == Role::Server ? "PSERVER" : "TRAINER");
  env.emplace_back("PADDLE_PSERVER_IPS", fmt::format("{}", fmt::join(hosts, ",")));
  env.emplace_back("PADDLE_PSERVER_PORT", std::to_string(world.servers.front().port));
  env.emplace_back("PADDLE_TRAINERS", std::to_string(world.workers.size()));
  if (role == Role::Server) env.emplace_back(kOwnAddress, process.host);
}

bool is_of_one_old_process(std::string_view name) { return name == kRole || name == kOwnAddress; }

std::optional<std::string> not_for_old_variables(const std::vector<std::string>& servers) {
  std::set<std::string_view> hosts;
  std::set<int> ports;
  for (const std::string& server : servers) {
    if (!hosts.insert(host_of(server)).second) {
      return fmt::format("{} has two servers, and the old variables name one for each host",
                         host_of(server));
    }
    ports.insert(port_of(server));
  }
  if (ports.size() < 2) return std::nullopt;
  return fmt::format(
      "the servers have ports {}, and the old variables have one (PADDLE_PSERVER_PORT) for all",
      fmt::join(ports, " and "));
}

}  // namespace paddle_launch
