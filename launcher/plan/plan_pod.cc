// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/plan_pod.h"

#include <utility>

#include "launcher/plan/collective.h"
#include "launcher/plan/nccl_env.h"
#include "launcher/plan/parameter_server.h"
#include "launcher/plan/world.h"

namespace paddle_launch {
namespace {

PodPlan plan_trainers(const JobSpec& job, const Environment& env, const PodMeans& means,
                      const Roster& roster, const PaddleEnvSettings& settings, bool has_terminal) {
  const WorldPlan world = plan_world(roster, means.store_port);
  const bool give_stdin = job.stdin_to_rank_zero || (world.trainers.size() == 1 && has_terminal);
  PodPlan plan = plan_collective(world, settings, means.program, env, means.cpus, give_stdin);
  if (!world.store.empty()) {
    const PodOffer& me = roster.pods.at(roster.mine);
    plan.store_relay = {.host = me.host, .port = me.master_port, .store_port = means.store_port};
  }
  return plan;
}

PodPlan plan_roles(const JobSpec& job, const Environment& env, const PodMeans& means,
                   const Roster& roster, const PaddleEnvSettings& settings) {
  ServerWorld world = plan_server_world(roster, job.servers->http_port);
  PodPlan plan = plan_servers(world, *job.servers, settings, means.program, means.cards, env,
                              job.stdin_to_rank_zero);
  plan.servers = std::move(world);
  return plan;
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
                                   .round = facts.round,
                                   .more = nccl_variables(facts.nccl)};
  PodPlan plan;
  if (!job.servers) {
    plan = plan_trainers(job, env, means, roster, settings, facts.has_terminal);
  } else if (job.servers->as_it_is) {
    plan = plan_as_it_is(*job.servers, settings, means.program, env,
                         job.stdin_to_rank_zero || facts.has_terminal);
  } else {
    plan = plan_roles(job, env, means, roster, settings);
  }
  plan.processes.round = facts.round.number;
  plan.processes.host = roster.pods.at(roster.mine).host;
  return plan;
}

}  // namespace paddle_launch
