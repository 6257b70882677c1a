// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/banner.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/nccl_ids.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kKeyWidth = 42;
constexpr std::size_t kValueWidth = 45;
constexpr std::string_view kCut = "... ";

std::string shortened(const std::string& value) {
  if (value.size() < kValueWidth) return value;
  return std::string(kCut).append(value, value.size() - (kValueWidth - kCut.size()));
}

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

Arguments resolved_arguments(const JobSpec& job, const PodPlan& plan) {
  auto arguments = job.arguments;
  if (plan.processes.nodes > 1 && !job.ips_given) set_argument(arguments, "ips", plan.hosts);
  if (job.log_dir == kNamedLogs && !plan.log_dir.empty()) {
    set_argument(arguments, "log_dir", plan.log_dir);
  }
  if (job.servers) return arguments;
  std::vector<std::string> names;
  for (const ProcessSpec& spec : plan.processes.processes) {
    for (const Card& card : spec.cards) names.push_back(card.name);
  }
  if (!plan.card_kind || names.empty()) return arguments;
  set_argument(arguments, std::string(words_of(*plan.card_kind).option),
               fmt::format("{}", fmt::join(names, ",")));
  return arguments;
}

std::vector<EnvVar> shown_env(const ProcessPlan& plan, const ProcessSpec& first,
                              const Environment& user) {
  std::vector<EnvVar> env = plan.common_env;
  env.insert(env.end(), first.env.begin(), first.env.end());
  for (auto& [name, value] : env) {
    if (name == kNcclIdVariable) value = "(not shown)";
  }
  // How often Slurm has put this job back into its queue.
  if (const auto restarts = lookup(user, "SLURM_RESTART_COUNT")) {
    env.emplace_back("SLURM_RESTART_COUNT", *restarts);
  }
  return env;
}

// A table for the first process of each role.
void show_environments(const Voice& voice, const ProcessPlan& plan, const Environment& user,
                       bool names_roles) {
  for (const Role role : {Role::Server, Role::Trainer, Role::HeterWorker}) {
    const auto is_of_role = [role](const ProcessSpec& spec) { return spec.role == role; };
    const auto first = std::find_if(plan.processes.begin(), plan.processes.end(), is_of_role);
    if (first == plan.processes.end()) continue;
    voice.info(fmt::format(
        "Local {}start {} processes. First process distributed environment info (Only For Debug):",
        names_roles ? fmt::format("{} ", words_of(role).paddle) : "",
        std::count_if(plan.processes.begin(), plan.processes.end(), is_of_role)));
    voice.block(environment_table(shown_env(plan, *first, user)));
  }
}

}  // namespace

std::string argument_banner(std::vector<std::pair<std::string, std::string>> arguments) {
  std::sort(arguments.begin(), arguments.end());
  std::string text = "-----------  Configuration Arguments -----------\n";
  for (const auto& [key, value] : arguments) {
    text += value.empty() ? fmt::format("{}:\n", key) : fmt::format("{}: {}\n", key, value);
  }
  return text + "------------------------------------------------\n";
}

std::string environment_table(std::vector<EnvVar> env) {
  std::sort(env.begin(), env.end());
  const std::string rule(kKeyWidth + kValueWidth, '=');
  const std::string thin_rule(kKeyWidth + kValueWidth, '-');
  std::string text =
      fmt::format("{}\n            Distributed Envs              Value\n{}\n", rule, thin_rule);
  for (const auto& [name, value] : env) {
    // A name that fills its column still ends before its value.
    std::string row =
        fmt::format("{:<{}}{}", name, std::max(kKeyWidth, name.size() + 1), shortened(value));
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text + rule + "\n";
}

void introduce_job(const Voice& voice, const JobSpec& job, const PodPlan& plan,
                   const Environment& user) {
  voice.block(argument_banner(resolved_arguments(job, plan)));
  if (!plan.backup_path.empty()) {
    voice.info(
        fmt::format("the endpoint list is too long for an environment variable; it is in {} "
                    "(PADDLE_BACKUP_ENV_PATH)",
                    plan.backup_path));
  }
  show_environments(voice, plan.processes, user, job.servers.has_value());
}

}  // namespace paddle_launch
