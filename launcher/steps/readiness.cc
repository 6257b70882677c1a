// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/readiness.h"

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

// The address of a pod whose place is behind the list of nodes is known when the nodes have met.
OwnNode own_node(const JobSpec& job, const Machine& here) {
  if (job.elastic) return own_node_of_task(job, here, 0);
  const auto place = static_cast<std::size_t>(job.node_rank.value_or(0));
  const bool is_listed = job.master || place < job.ips.size();
  return is_listed ? find_own_node(job, here) : own_node_of_task(job, here, place);
}

// Without --rank the node where all meet becomes the first.
bool may_be_first(const JobSpec& job, const OwnNode& me) {
  if (!job.master || job.node_rank || !job.servers) return me.place == 0;
  return me.is_meeting_point;
}

}  // namespace

Readiness get_ready(const JobSpec& job, const Environment& env, const Machine& here,
                    const Company& company) {
  Readiness ready;
  // Who does not know which node it is cannot tell the others anything; a scheduler knows.
  if (!company.is_scheduled()) ready.me = own_node(job, here);
  try {
    if (company.is_scheduled()) {
      ready.me = own_node_of_task(job, here, static_cast<std::size_t>(company.group().mine));
    }
    ready.preparation = prepare_files(job, env, company.has_several_pods());
    prepare(job, env, here, ready.me.host, company.group().share, may_be_first(job, ready.me),
            ready.preparation);
  } catch (const std::exception& error) {
    // The others of an elastic job do not wait for this one.
    if (!company.has_several_pods() || job.elastic ||
        (job.dry_run != DryRun::No && !company.is_scheduled()))
      throw;
    ready.problem = std::current_exception();
    ready.problem_text = error.what();
    ready.preparation.offer.host = ready.me.host;
  }
  return ready;
}

// A port that was named is given back first.
void prepare_again(const JobSpec& job, const Environment& env, const Machine& here,
                   const Company& company, Readiness& ready) {
  Preparation& before = ready.preparation;
  if (job.start_port || !job.given_ports.empty() || job.servers) before.ports = {};
  look_for_program_again(job, env);
  prepare(job, env, here, ready.me.host, company.group().share, may_be_first(job, ready.me),
          before);
}

}  // namespace paddle_launch
