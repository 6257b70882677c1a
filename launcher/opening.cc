// SPDX-License-Identifier: Apache-2.0
#include "launcher/opening.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/plan/nccl_env.h"
#include "launcher/tell/banner.h"

namespace paddle_launch {
namespace {

using Arguments = std::vector<std::pair<std::string, std::string>>;

void set_argument(Arguments& arguments, const std::string& key, const std::string& value) {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&key](const auto& argument) { return argument.first == key; });
  if (found != arguments.end()) {
    found->second = value;
  } else {
    arguments.emplace_back(key, value);
  }
}

// One for each node, as they stand in the endpoints.
std::string hosts_of(const WorldPlan& world) {
  std::string hosts;
  for (const Trainer& trainer : world.trainers) {
    if (trainer.local_rank != 0) continue;
    hosts += (hosts.empty() ? "" : ",") + trainer.endpoint.substr(0, trainer.endpoint.rfind(':'));
  }
  return hosts;
}

Arguments resolved_arguments(const JobSpec& job, const WorldPlan& world, const ProcessPlan& plan) {
  auto arguments = job.arguments;
  if (world.nodes > 1 && !job.ips_given) set_argument(arguments, "ips", hosts_of(world));
  std::vector<std::string> names;
  for (const ProcessSpec& spec : plan.processes) {
    for (const Card& card : spec.cards) names.push_back(card.name);
  }
  if (!world.card_kind || names.empty()) return arguments;
  set_argument(arguments, std::string(words_of(*world.card_kind).option),
               fmt::format("{}", fmt::join(names, ",")));
  return arguments;
}

}  // namespace

void open_the_console(const Voice& voice, const JobSpec& job, const Environment& user,
                      const WorldPlan& world, const CollectivePlan& plan, const Remarks& remarks) {
  voice.block(argument_banner(resolved_arguments(job, world, plan.processes)));
  if (!plan.backup_path.empty()) {
    voice.info(
        fmt::format("the endpoint list is too long for an environment variable; it is in {} "
                    "(PADDLE_BACKUP_ENV_PATH)",
                    plan.backup_path));
  }
  std::vector<EnvVar> env = plan.processes.common_env;
  const ProcessSpec& first = plan.processes.processes.front();
  env.insert(env.end(), first.env.begin(), first.env.end());
  // Whoever knows an id can check in with it.
  for (auto& [name, value] : env) {
    if (name == kNcclIdVariable) value = "(not shown)";
  }
  // How often Slurm has put this job back into its queue.
  if (const auto restarts = lookup(user, "SLURM_RESTART_COUNT")) {
    env.emplace_back("SLURM_RESTART_COUNT", *restarts);
  }
  voice.info(fmt::format(
      "Local start {} processes. First process distributed environment info (Only For Debug):",
      plan.processes.processes.size()));
  voice.block(environment_table(std::move(env)));
  for (const std::string& text : remarks.warnings) voice.warning(text);
  for (const std::string& text : remarks.notices) voice.info(text);
}

}  // namespace paddle_launch
