// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/task_agreement.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/agreement.h"

namespace paddle_launch {
namespace {

std::optional<RefusalMessage> first_problem(const std::vector<OfferMessage>& pods) {
  for (const OfferMessage& pod : pods) {
    if (pod.terms.problem.empty()) continue;
    return RefusalMessage{.status = pod.terms.problem_status,
                          .node = pod.terms.place.value_or(-1),
                          .text = fmt::format("{}: {}", pod.terms.machine, pod.terms.problem)};
  }
  return std::nullopt;
}

std::optional<RefusalMessage> refusal(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return RefusalMessage{.status = kLaunchErrorStatus, .node = -1, .text = *text};
}

// rank = M_id * N + N_id asks for one N.
std::optional<std::string> different_counts(const std::vector<OfferMessage>& pods,
                                            const std::vector<int>& node_of) {
  std::map<int, std::size_t> trainers;
  std::map<int, const OfferMessage*> someone;
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    trainers[node_of[pod]] += pods[pod].offer.trainers.size();
    someone.emplace(node_of[pod], &pods[pod]);
  }
  const auto& [first, expected] = *trainers.begin();
  for (const auto& [node, count] : trainers) {
    if (count == expected) continue;
    return fmt::format(
        "the numbers of trainers differ: {} has {} and {} has {}; all nodes of a job need the same "
        "number of cards: ask the scheduler for equal nodes, name as many cards on each with "
        "--gpus, or give --nproc_per_node",
        someone.at(first)->terms.machine, expected, someone.at(node)->terms.machine, count);
  }
  return std::nullopt;
}

}  // namespace

std::optional<RefusalMessage> task_disagreement(const std::vector<OfferMessage>& pods,
                                                const std::vector<int>& node_of) {
  if (auto problem = first_problem(pods)) return problem;
  for (const OfferMessage& pod : pods) {
    if (const auto difference = disagreement(pods.front(), pod)) return refusal(difference);
  }
  return refusal(different_counts(pods, node_of));
}

std::vector<std::string> contradictions(const Launch& launch, const TaskGroup& group,
                                        const Roster& roster) {
  const JobSpec& job = launch.job;
  std::vector<std::string> hosts;
  std::vector<std::string> names;
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    if (pod > 0 && roster.node_of.at(pod) == roster.node_of[pod - 1]) continue;
    hosts.push_back(roster.pods[pod].host);
    names.push_back(group.hosts.at(pod));
  }
  const std::string truth = fmt::format("{} started this job on {} ({})", launch.around.launched_by,
                                        fmt::join(names, ","), fmt::join(hosts, ","));
  bool fits = job.ips.size() == hosts.size();
  for (std::size_t node = 0; fits && node < hosts.size(); ++node) {
    fits = job.ips[node] == hosts[node] || job.ips[node] == names[node];
  }
  if (job.ips_given && !fits) {
    return {fmt::format("{}={} is not what counts: {}", job.ips_source, fmt::join(job.ips, ","),
                        truth)};
  }
  const bool has_master = job.master && job.nnodes != group.nodes;
  if (!has_master) return {};
  return {fmt::format("--master={}:{} with --nnodes={} is not what counts: {}", job.master->host,
                      job.master->port, job.nnodes, truth)};
}

}  // namespace paddle_launch
