// SPDX-License-Identifier: Apache-2.0
#include "launcher/job/pod.h"

#include <algorithm>
#include <cstddef>

namespace paddle_launch {
namespace {

struct Unnamed {
  std::size_t pod = 0;
  std::size_t process = 0;
  const RoleOffer* offer = nullptr;
};

}  // namespace

std::vector<std::vector<ProcessName>> names_of_pods(const Roster& roster) {
  std::vector<std::vector<ProcessName>> names(roster.pods.size());
  std::vector<Unnamed> unnamed;
  int rank = 0;
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    const PodOffer& offer = roster.pods[pod];
    for (std::size_t i = 0; i < offer.trainers.size(); ++i) {
      names[pod].push_back({Role::Trainer, rank++});
    }
    for (const RoleOffer& process : offer.roles) {
      if (process.index < 0) unnamed.push_back({pod, names[pod].size(), &process});
      names[pod].push_back({process.role, process.index});
    }
  }
  std::stable_sort(unnamed.begin(), unnamed.end(), [](const Unnamed& one, const Unnamed& other) {
    return one.offer->stage < other.offer->stage;
  });
  int next[] = {0, 0, 0};  // of each role
  for (const Unnamed& one : unnamed) {
    names[one.pod][one.process].index = next[static_cast<int>(one.offer->role)]++;
  }
  return names;
}

}  // namespace paddle_launch
