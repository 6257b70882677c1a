// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/task_agreement.h"

#include <map>

#include <fmt/format.h>

#include "launcher/rendezvous/agreement.h"

namespace paddle_launch {
namespace {

std::optional<std::string> first_problem(const std::vector<OfferMessage>& pods) {
  for (const OfferMessage& pod : pods) {
    if (!pod.claim.problem.empty()) {
      return fmt::format("{}: {}", pod.claim.machine, pod.claim.problem);
    }
  }
  return std::nullopt;
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
        someone.at(first)->claim.machine, expected, someone.at(node)->claim.machine, count);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> task_disagreement(const std::vector<OfferMessage>& pods,
                                             const std::vector<int>& node_of) {
  if (auto problem = first_problem(pods)) return problem;
  for (const OfferMessage& pod : pods) {
    if (auto difference = disagreement(pods.front(), pod)) return difference;
  }
  return different_counts(pods, node_of);
}

}  // namespace paddle_launch
