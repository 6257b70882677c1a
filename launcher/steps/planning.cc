// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/planning.h"

#include <unistd.h>

#include <utility>

#include "launcher/plan/collective.h"
#include "launcher/plan/nccl_env.h"
#include "launcher/plan/parameter_server.h"
#include "launcher/plan/world.h"
#include "launcher/steps/nccl_id_maker.h"
#include "launcher/steps/payload.h"

namespace paddle_launch {
namespace {

PodPlan plan_trainers(const JobSpec& job, const Environment& env, const Preparation& ready,
                      const Roster& roster, const PaddleEnvSettings& settings, bool has_terminal) {
  const WorldPlan world = plan_world(roster, ready.ports.store);
  const bool give_stdin = job.stdin_to_rank_zero || (world.trainers.size() == 1 && has_terminal);
  PodPlan plan = plan_collective(world, settings, ready.program, env, ready.cpus, give_stdin);
  if (!world.store.empty()) {
    const PodOffer& me = roster.pods.at(roster.mine);
    plan.store_door = {.host = me.host, .port = me.master_port, .store_port = ready.ports.store};
  }
  return plan;
}

PodPlan plan_roles(const JobSpec& job, const Environment& env, const Preparation& ready,
                   const Roster& roster, const PaddleEnvSettings& settings) {
  ServerWorld world = plan_server_world(roster, job.servers->http_port);
  PodPlan plan = plan_servers(world, *job.servers, settings, ready.program, ready.cards, env,
                              job.stdin_to_rank_zero);
  plan.servers = std::move(world);
  return plan;
}

}  // namespace

PodPlan plan_pod(const JobSpec& job, const Environment& env, const Preparation& ready,
                 const Roster& roster, bool under_scheduler, const std::string& payload,
                 const RoundState& round) {
  const PaddleEnvSettings settings{
      .backend = job.backend,
      .log_dir = ready.log_dir,
      .job_id = job.job_id,
      .temporary_dir = lookup(env, "TMPDIR").value_or("/tmp"),
      .under_scheduler = under_scheduler,
      .rpc = job.mode == Mode::Rpc,
      .round = round,
      .more = nccl_variables(ids_of_payload(unpack_payload(payload).nccl))};
  const bool has_terminal = isatty(STDIN_FILENO) == 1;
  PodPlan plan;
  if (!job.servers) {
    plan = plan_trainers(job, env, ready, roster, settings, has_terminal);
  } else if (job.servers->as_it_is) {
    plan = plan_as_it_is(*job.servers, settings, ready.program, env,
                         job.stdin_to_rank_zero || has_terminal);
  } else {
    plan = plan_roles(job, env, ready, roster, settings);
  }
  plan.processes.round = round.number;
  plan.processes.host = roster.pods.at(roster.mine).host;
  return plan;
}

}  // namespace paddle_launch
