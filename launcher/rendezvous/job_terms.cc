// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md says what is compared, and when.
#include "launcher/rendezvous/job_terms.h"

#include <unistd.h>

#include "launcher/tell/log_lines.h"

namespace paddle_launch {
namespace {

// The servers and workers that were asked for, the same text on nodes that agree.
std::string layout_of(const JobSpec& job) {
  if (!job.servers) return job.mode == Mode::Rpc ? std::string(kRpcLayout) : "";
  return job.servers->layout;
}

}  // namespace

JobTerms terms_of(const JobSpec& job, const Machine& here, const Offer& offer,
                  const TaskGroup* tasks) {
  JobTerms terms{.version = PADDLE_LAUNCH_VERSION,
                 .machine = here.host_name,
                 .pid = getpid(),
                 .sort_ip = job.sort_ip,
                 .check = job.check,
                 .layout = layout_of(job),
                 .command = command_text(job.script),
                 .problem = offer.problem_text,
                 .problem_status = offer.problem_status};
  if (job.elastic) {
    terms.nodes = 0;  // etcd knows how many there may be
  } else if (tasks != nullptr) {
    terms.nodes = tasks->pods();
    terms.place = tasks->mine;
    terms.sort_ip = false;
  } else if (job.master || (job.servers && job.servers->single)) {
    terms.nodes = job.nnodes;
    terms.place = job.node_rank;
    if (!job.master) terms.name = job.servers->single->called;
  } else {
    terms.ips = job.ips;
    terms.nodes = static_cast<int>(job.ips.size());
    terms.place = static_cast<int>(offer.me.place);
  }
  return terms;
}

}  // namespace paddle_launch
