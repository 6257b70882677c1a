// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0024 says why there is one plan for every mode.
#include "launcher/plan/pod_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/plan/collective.h"
#include "launcher/plan/nccl_env.h"
#include "launcher/plan/parameter_server.h"
#include "launcher/plan/proxies.h"
#include "launcher/plan/world.h"

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
  settle_proxies(plan.hosts, settings.drop_proxies, plan.processes.inherited, plan.warnings);
  plan.processes.common_env = std::move(env.common);
  plan.backup_env = std::move(env.backup);
  plan.backup_path = std::move(env.backup_path);
}

namespace {

// Numbers that begin on every node, so several nodes have a folder each.
void name_logs_locally(const std::string& host, PodPlan& plan) {
  const std::string folder = plan.processes.nodes > 1 ? plan.log_dir + "/" + host : plan.log_dir;
  for (ProcessSpec& spec : plan.processes.processes) {
    spec.log_path = log_path(folder, {spec.role, spec.local_rank});
  }
}

// Many read stdin where nobody has written anything, and a batch system's is empty or /dev/null.
void tell_of_lost_input(PodPlan& plan) {
  const auto& processes = plan.processes.processes;
  if (std::any_of(processes.begin(), processes.end(),
                  [](const ProcessSpec& spec) { return spec.has_stdin; })) {
    return;
  }
  plan.notices.push_back(fmt::format(
      "what comes on standard input goes nowhere: the job has {} processes that could read it; "
      "--stdin=0 gives it to rank 0",
      plan.processes.world_size + plan.processes.servers + plan.processes.heter_workers));
}

StoreRelayPlace relay_of_store(const Roster& roster, const PodMeans& means) {
  const PodOffer& me = roster.pods.at(roster.mine);
  return {.host = me.host, .port = me.master_port, .store_port = means.store_port};
}

}  // namespace

PodPlan plan_pod(const JobSpec& job, const Environment& env, const PodMeans& means,
                 const Roster& roster, const RoundFacts& facts) {
  const PaddleEnvSettings settings{.backend = job.backend,
                                   .log_dir = means.log_dir,
                                   .job_id = job.job_id,
                                   .temporary_dir = lookup(env, "TMPDIR").value_or("/tmp"),
                                   .under_scheduler = facts.under_scheduler,
                                   .rpc = job.mode == Mode::Rpc,
                                   .elastic = job.elastic.has_value(),
                                   .drop_proxies = job.drop_proxies,
                                   .round = facts.round,
                                   .more = nccl_variables(facts.nccl)};
  PodPlan plan;
  if (!job.servers) {
    const WorldPlan world = plan_world(roster, means.store_port);
    const bool gives_stdin = job.stdin_to_rank_zero || world.trainers.size() == 1;
    plan = plan_collective(world, settings, means, env, gives_stdin);
    if (!world.store.empty()) plan.store_relay = relay_of_store(roster, means);
  } else if (job.servers->as_it_is) {
    plan = plan_as_it_is(*job.servers, settings, means.program, env);
  } else {
    ServerWorld world = plan_server_world(roster, job.servers->http_port);
    plan = plan_servers(world, job, settings, means, env);
    plan.servers = std::move(world);
  }
  const bool is_lost = facts.has_unread_input && !job.stdin_to_rank_zero;
  if (is_lost && facts.round.number == 0) tell_of_lost_input(plan);
  plan.processes.round = facts.round.number;
  plan.processes.host = roster.pods.at(roster.mine).host;
  if (job.local_log_names && !plan.log_dir.empty()) name_logs_locally(plan.processes.host, plan);
  return plan;
}

}  // namespace paddle_launch
