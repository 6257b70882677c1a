// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/collective.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/plan/pod_plan.h"

namespace paddle_launch {
namespace {

std::string endpoints_log(const WorldPlan& world) {
  std::string text = "PADDLE_TRAINER_ENDPOINTS:\n";
  for (const Trainer& trainer : world.trainers) text += trainer.endpoint + "\n";
  return text;
}

// Paddle's launcher gives such trainers one card each and leaves the others idle, which may belong
// to somebody else.
void tell_who_computes_where(const WorldPlan& world, PodPlan& plan) {
  std::vector<std::string> ranks;
  std::vector<std::string_view> alone;
  for (const ProcessSpec& spec : plan.processes.processes) {
    std::vector<std::string_view> cards;
    for (const Card& card : spec.cards) cards.emplace_back(card.name);
    if (cards.size() < 2 || world.trainers.size() < 2) return;
    ranks.push_back(
        fmt::format("rank {} on {} of {}", spec.rank, cards.front(), fmt::join(cards, ",")));
    for (const std::string_view card : cards) {
      if (alone.size() < plan.processes.processes.size()) alone.push_back(card);
    }
  }
  if (ranks.empty()) return;
  plan.notices.push_back(fmt::format(
      "each trainer has several cards and computes on its first: {}; name as many cards as "
      "trainers (--{}={}) to leave the others free",
      fmt::join(ranks, ", "), words_of(*world.card_kind).option, fmt::join(alone, ",")));
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
  if (settings.round.number == 0) tell_who_computes_where(world, plan);
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
