// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/pod_plan.h"

#include <utility>

#include <fmt/format.h>

namespace paddle_launch {

std::string log_path(const std::string& log_dir, ProcessName name) {
  if (log_dir.empty()) return {};
  return fmt::format("{}/{}.{}", log_dir, words_of(name.role).log, name.index);
}

PodPlan new_plan(const Program& program, const PaddleEnvSettings& settings) {
  PodPlan plan;
  plan.processes.program = program.path;
  plan.processes.argv = program.argv;
  plan.processes.function = program.function;
  plan.log_dir = settings.log_dir;
  return plan;
}

void add_environment(PaddleEnv env, const std::vector<EnvVar>& own, const Environment& user,
                     const PaddleEnvSettings& settings, PodPlan& plan) {
  plan.processes.inherited = inherited_env(user, env.common, own, settings.under_scheduler);
  plan.processes.common_env = std::move(env.common);
  plan.backup_env = std::move(env.backup);
  plan.backup_path = std::move(env.backup_path);
}

}  // namespace paddle_launch
