// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/dry_run.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "launcher/tell/log_lines.h"
#include "launcher/tell/words.h"
#include "launcher/text/device_list.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

std::map<std::string, std::string> whole_env(const ProcessPlan& plan, const ProcessSpec& spec) {
  std::map<std::string, std::string> env(plan.common_env.begin(), plan.common_env.end());
  env.insert(spec.env.begin(), spec.env.end());
  return env;
}

std::vector<std::string> card_names(const ProcessSpec& spec) {
  std::vector<std::string> names;
  for (const Card& card : spec.cards) names.push_back(card.name);
  return names;
}

int all_processes(const ProcessPlan& plan) {
  return plan.world_size + plan.servers + plan.heter_workers;
}

nlohmann::json path_or_null(const std::string& path) {
  return path.empty() ? nlohmann::json() : nlohmann::json(path);
}

nlohmann::json process_json(const ProcessPlan& plan, const ProcessSpec& spec) {
  nlohmann::json process = {{"rank", spec.rank},
                            {"local_rank", spec.local_rank},
                            {"host", plan.host},
                            {"endpoint", spec.endpoint},
                            {"cards", card_names(spec)},
                            {"cpus", spec.cpus},
                            {"log", path_or_null(spec.log_path)},
                            {"command", plan.argv},
                            {"environment", whole_env(plan, spec)}};
  // Collective jobs have trainers alone, and programs that know nothing of roles.
  if (plan.servers > 0 || plan.heter_workers > 0) process["role"] = words_of(spec.role).key;
  return process;
}

}  // namespace

std::string dry_run_text(const ProcessPlan& plan) {
  std::string text = fmt::format("{} of {} processes on {}:\n", plan.processes.size(),
                                 all_processes(plan), plan.host);
  for (const ProcessSpec& spec : plan.processes) {
    const std::vector<std::string> cards = card_names(spec);
    text += fmt::format("\n{}\n", name_of_spec(spec));
    if (spec.role == Role::Trainer) text += fmt::format("  local rank  {}\n", spec.local_rank);
    text += fmt::format("  host        {}\n  endpoint    {}\n", plan.host, spec.endpoint);
    text += fmt::format("  cards       {}\n",
                        cards.empty() ? "none (CPU)" : fmt::format("{}", fmt::join(cards, ",")));
    text += fmt::format("  binding     {}\n",
                        spec.cpus.empty() ? "none" : "CPUs " + format_cpu_list(spec.cpus));
    text += fmt::format("  log         {}\n",
                        spec.log_path.empty() ? "none (straight to the console)" : spec.log_path);
    text += fmt::format("  command     {}\n", printable(shell_quoted(plan.argv)));
    text += "  environment\n";
    for (const auto& [name, value] : whole_env(plan, spec))
      text += fmt::format("    {}={}\n", name, value);
  }
  return text;
}

std::string dry_run_json(const ProcessPlan& plan) {
  nlohmann::json processes = nlohmann::json::array();
  for (const ProcessSpec& spec : plan.processes) {
    processes.push_back(process_json(plan, spec));
  }
  nlohmann::json whole = {{"world_size", plan.world_size},
                          {"host", plan.host},
                          {"program", plan.program},
                          {"processes", processes}};
  if (plan.servers > 0) whole["servers"] = plan.servers;
  if (plan.heter_workers > 0) whole["heter_workers"] = plan.heter_workers;
  return whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace paddle_launch
