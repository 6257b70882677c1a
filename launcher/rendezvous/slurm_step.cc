// SPDX-License-Identifier: Apache-2.0
// docs/running-under-slurm.md says when this way is taken.
#include "launcher/rendezvous/slurm_step.h"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/secret.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/rendezvous/tcp.h"

namespace paddle_launch {
namespace {

// Below the ports that the kernel gives away by itself.
constexpr int kFirstStepPort = 10'000;
constexpr std::size_t kStepPortBlocks = 2'000;

// Every task of the step comes to the same numbers, and steps that run at once seldom do.
TcpSettings step_settings(const SlurmStep& step, const TaskGroup& group) {
  const std::string bytes = digest(fmt::format("ports of {}.{}", step.job_id, step.step_id));
  const unsigned number =
      static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  TcpSettings settings;
  settings.hub_host = step.nodes.front();
  settings.ports.resize(kHubPorts);
  std::iota(settings.ports.begin(), settings.ports.end(),
            kFirstStepPort + static_cast<int>(number % kStepPortBlocks) * kHubPorts);
  settings.is_hub = group.mine == 0;
  settings.node_of = group.node_of;
  settings.names = group.hosts;
  settings.hub_tells_for_all = true;
  return settings;
}

// Pods of one node show their trainers one name. Over TCP names do not travel: all come to the same
// six letters by themselves.
void name_pods(Roster& roster, const SlurmStep& step) {
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    const std::string bytes = digest(
        fmt::format("pod of {}.{} on node {}", step.job_id, step.step_id, roster.node_of.at(pod)));
    std::string name = bytes.substr(0, kPodNameLetters);
    for (char& c : name) c = static_cast<char>('a' + static_cast<unsigned char>(c) % 26);
    roster.pods[pod].name = name;
  }
}

}  // namespace

SlurmStepRendezvous::SlurmStepRendezvous(const Launch& launch, Narrator& narrator)
    : launch_(launch), narrator_(narrator) {
  const SlurmStep& step = *launch.around.step;
  group_ = group_by_counts(step.tasks_per_node, step.nodes, step.node, step.local);
  group_.share.own_cards |= launch.around.cards_per_task;
}

Gathered SlurmStepRendezvous::gather(const Brought& brought) {
  const SlurmStep& step = *launch_.around.step;
  std::vector<std::string> notices;
  if (!star_) {
    TcpSettings settings = step_settings(step, group_);
    settings.identity = step_identity(launch_.job, launch_.env, launch_.here, step, notices);
    settings.timeout = patience_with(brought.offer, launch_.job);
    star_.emplace(launch_.loop, std::move(settings), narrator_);
  }
  const JobTerms terms = terms_of(launch_.job, launch_.here, brought.offer, &group_);
  Gathered gathered =
      star_->gather(brought.next.state, offer_message(terms, brought.offer.pod), brought.payload);
  name_pods(gathered.roster, step);
  gathered.notices = std::move(notices);
  for (std::string& text : contradictions(launch_, group_, gathered.roster)) {
    gathered.warnings.push_back(std::move(text));
  }
  return gathered;
}

}  // namespace paddle_launch
