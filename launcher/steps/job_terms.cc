// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/job_terms.h"

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/steps/identity.h"

namespace paddle_launch {
namespace {

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ","));
}

std::string list_or_number(std::string_view list_option, const std::vector<std::string>& list,
                           std::string_view number_option, int number) {
  return list.empty() ? fmt::format("--{}={}", number_option, number)
                      : fmt::format("--{}={}", list_option, joined(list));
}

std::string heter_text(const ServerSpec& spec) {
  if (spec.heter_stages() == 0) return "";
  std::vector<std::string> stages;
  for (const auto& stage : spec.heter_workers) stages.push_back(joined(stage));
  const std::string devices =
      fmt::format(" --heter_devices={}", fmt::join(spec.heter_devices, ";"));
  if (stages.empty()) {
    return fmt::format(" --heter_worker_num={}{}", fmt::join(spec.heter_worker_num, ";"), devices);
  }
  return fmt::format(" --heter_workers={}{}", fmt::join(stages, ";"), devices);
}

std::string whole_layout(const ServerSpec& spec) {
  if (const auto& old = spec.old_role) {
    return fmt::format("PADDLE_PSERVER_IPS={} PADDLE_PSERVER_PORT={} PADDLE_TRAINERS={}",
                       joined(old->server_hosts), old->port, old->trainers);
  }
  std::string text = list_or_number("servers", spec.servers, "server_num", spec.server_num);
  text += " " + list_or_number("workers", spec.workers, "worker_num", spec.worker_num);
  text += heter_text(spec);
  if (spec.http_port) text += fmt::format(" {}={}", spec.http_port_source, *spec.http_port);
  return text + fmt::format(" --with_gloo={}", spec.with_gloo);
}

// The servers and workers that were asked for, the same text on nodes that agree.
std::string layout_of(const JobSpec& job) {
  if (!job.servers) return job.mode == Mode::Rpc ? std::string(kRpcLayout) : "";
  return whole_layout(*job.servers);
}

void take_old_place(const OldRole& old, JobTerms& terms) {
  terms.nodes = old.pods();
  terms.place = old.place();
  terms.name = old.mine.role == Role::Server
                   ? "to be server " + old.server_hosts.at(static_cast<std::size_t>(old.mine.index))
                   : fmt::format("PADDLE_TRAINER_ID={}", old.mine.index);
}

}  // namespace

std::vector<std::string> names_of_old_pods(const OldRole& old) {
  std::vector<std::string> names;
  for (const std::string& host : old.server_hosts) names.push_back("server " + host);
  for (int i = 0; i < old.trainers; ++i) names.push_back(fmt::format("trainer {}", i));
  return names;
}

JobTerms make_terms(const JobSpec& job, const Machine& here, const OwnNode& me,
                    const Company& company, const std::string& problem) {
  JobTerms terms{.version = PADDLE_LAUNCH_VERSION,
                 .machine = here.host_name,
                 .pid = getpid(),
                 .sort_ip = job.sort_ip,
                 .check = job.check,
                 .layout = layout_of(job),
                 .command = command_text(job),
                 .problem = problem};
  if (job.elastic) {
    terms.nodes = 0;  // etcd knows how many there may be
  } else if (company.is_scheduled()) {
    terms.nodes = company.group().pods();
    terms.place = company.group().mine;
    terms.sort_ip = false;
  } else if (job.servers && job.servers->old_role) {
    take_old_place(*job.servers->old_role, terms);
  } else if (job.master) {
    terms.nodes = job.nnodes;
    terms.place = job.node_rank;
  } else {
    terms.ips = job.ips;
    terms.nodes = static_cast<int>(job.ips.size());
    terms.place = static_cast<int>(me.place);
  }
  return terms;
}

}  // namespace paddle_launch
