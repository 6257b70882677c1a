// SPDX-License-Identifier: Apache-2.0
// docs/parameter-server.md shows such a job from outside.
#include "launcher/plan/parameter_server.h"

#include <algorithm>
#include <array>

#include "launcher/plan/pod_plan.h"
#include "launcher/plan/server_env.h"

namespace paddle_launch {
namespace {

constexpr std::array kInOrderOfStart = {Role::Server, Role::Trainer, Role::HeterWorker};

std::string endpoints_log(const std::vector<std::string>& workers,
                          const std::vector<std::string>& servers) {
  std::string text = "PADDLE_TRAINER_ENDPOINTS:\n";
  for (const std::string& endpoint : workers) text += endpoint + "\n";
  text += "PADDLE_PSERVERS_IP_PORT_LIST:\n";
  for (const std::string& endpoint : servers) text += endpoint + "\n";
  return text;
}

std::vector<std::string> endpoints(const std::vector<RoleProcess>& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const RoleProcess& process : list) texts.push_back(process.endpoint());
  return texts;
}

// Everything that some process of ours sets; what the user says of it is for none of them.
std::vector<EnvVar> all_own(const std::vector<ProcessSpec>& processes) {
  std::vector<EnvVar> all;
  for (const ProcessSpec& spec : processes) all.insert(all.end(), spec.env.begin(), spec.env.end());
  return all;
}

std::string hosts_of(const ServerWorld& world) {
  std::vector<std::string> hosts;
  std::string text;
  for (const Role role : kInOrderOfStart) {
    for (const RoleProcess& process : world.of(role)) {
      if (std::find(hosts.begin(), hosts.end(), process.host) != hosts.end()) continue;
      hosts.push_back(process.host);
      text += (text.empty() ? "" : ",") + process.host;
    }
  }
  return text;
}

int followed_process(const std::vector<ProcessSpec>& processes) {
  const auto worker = std::find_if(processes.begin(), processes.end(), [](const ProcessSpec& spec) {
    return spec.role == Role::Trainer && spec.rank == 0;
  });
  return worker == processes.end() ? 0 : static_cast<int>(worker - processes.begin());
}

}  // namespace

PodPlan plan_servers(const ServerWorld& world, const JobSpec& job,
                     const PaddleEnvSettings& settings, const PodMeans& means,
                     const Environment& user) {
  const ServerSpec& spec = *job.servers;
  PodPlan plan = new_plan(means.program, settings);
  std::vector<ProcessSpec>& processes = plan.processes.processes;
  for (const Role role : kInOrderOfStart) {
    for (const RoleProcess& process : world.of(role)) {
      if (process.pod != world.my_pod) continue;
      if (role != Role::Server) ++plan.processes.held_back;
      const Card* const card = means.cards.of(process);
      processes.push_back(
          {.role = role,
           .rank = process.name.index,
           .local_rank = process.on_node,
           .endpoint = process.endpoint(),
           .cards = card != nullptr ? std::vector<Card>{*card} : std::vector<Card>{},
           .env = role_env(world, spec, process, means.cards, user),
           .cpus = {},
           .log_path = log_path(settings.log_dir, process.name),
           .has_stdin = job.stdin_to_rank_zero && process.name == ProcessName{Role::Trainer, 0}});
      add_threads(means, processes.size() - 1, processes.back().env);
    }
  }
  plan.processes.followed = followed_process(processes);
  plan.hosts = hosts_of(world);
  add_environment(common_server_env(world, spec, settings), all_own(processes), user, settings,
                  plan);
  std::erase_if(plan.processes.inherited,
                [](const EnvVar& variable) { return is_of_one_old_process(variable.first); });
  plan.processes.world_size = static_cast<int>(world.workers.size());
  plan.processes.servers = static_cast<int>(world.servers.size());
  plan.processes.heter_workers = static_cast<int>(world.heter_workers.size());
  plan.processes.nodes = world.nodes;
  plan.endpoints_log = endpoints_log(endpoints(world.workers), endpoints(world.servers));
  plan.first_on_node = world.first_on_node;
  plan.card_kind = means.cards.kind;
  return plan;
}

PodPlan plan_as_it_is(const ServerSpec& spec, const PaddleEnvSettings& settings,
                      const Program& program, const Environment& user) {
  const ProcessName name = *spec.as_it_is;
  PodPlan plan = new_plan(program, settings);
  plan.processes.processes = {{.role = name.role,
                               .rank = name.index,
                               .log_path = log_path(settings.log_dir, name),
                               .has_stdin = true}};
  plan.processes.common_env = {{kJobVariable, settings.job_id}};
  for (const auto& [variable, value] : user) {
    if (variable != kJobVariable) plan.processes.inherited.emplace_back(variable, value);
  }
  plan.processes.world_size = std::max<int>(1, static_cast<int>(spec.workers.size()));
  plan.processes.servers = static_cast<int>(spec.servers.size());
  plan.endpoints_log = endpoints_log(spec.workers, spec.servers);
  return plan;
}

}  // namespace paddle_launch
