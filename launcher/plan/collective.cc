// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/collective.h"

#include "launcher/plan/pod_plan.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

std::string endpoints_log(const WorldPlan& world) {
  std::string text = "PADDLE_TRAINER_ENDPOINTS:\n";
  for (const Trainer& trainer : world.trainers) text += trainer.endpoint + "\n";
  return text;
}

// One for each node, as they stand in the endpoints.
std::string hosts_of(const WorldPlan& world) {
  std::string hosts;
  for (const Trainer& trainer : world.trainers) {
    if (trainer.local_rank != 0) continue;
    if (!hosts.empty()) hosts += ',';
    hosts += host_of(trainer.endpoint);
  }
  return hosts;
}

}  // namespace

PodPlan plan_collective(const WorldPlan& world, const PaddleEnvSettings& settings,
                        const PodMeans& means, const Environment& user, bool give_stdin) {
  PodPlan plan = new_plan(means.program, settings);
  for (int i = 0; i < world.my_count; ++i) {
    const auto local = static_cast<std::size_t>(i);
    const Trainer& trainer = world.trainers.at(static_cast<std::size_t>(world.first_mine) + local);
    plan.processes.processes.push_back({
        .role = Role::Trainer,
        .rank = trainer.rank,
        .local_rank = trainer.local_rank,
        .endpoint = trainer.endpoint,
        .cards = trainer.cards,
        .env = trainer_env(world, trainer, settings.rpc),
        .cpus = local < means.cpus.size() ? means.cpus[local] : std::vector<int>{},
        .log_path = log_path(settings.log_dir, {Role::Trainer, trainer.rank}),
        .has_stdin = give_stdin && trainer.rank == 0,
    });
    add_threads(means, local, plan.processes.processes.back().env);
  }
  const std::vector<EnvVar> own = plan.processes.processes.empty()
                                      ? std::vector<EnvVar>{}
                                      : plan.processes.processes.front().env;
  plan.hosts = hosts_of(world);
  add_environment(common_env(world, settings, user), own, user, settings, plan);
  plan.processes.world_size = static_cast<int>(world.trainers.size());
  plan.processes.nodes = world.nodes;
  plan.endpoints_log = endpoints_log(world);
  plan.first_on_node = world.first_on_node;
  plan.card_kind = world.card_kind;
  return plan;
}

}  // namespace paddle_launch
