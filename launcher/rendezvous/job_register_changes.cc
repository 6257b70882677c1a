// SPDX-License-Identifier: Apache-2.0
// What a pod writes into the job's book beside its own entry: rounds, and who is dead.
#include <utility>

#include "launcher/os/wall_clock.h"
#include "launcher/rendezvous/job_register.h"

namespace paddle_launch {

void JobRegister::commit(BookedRound round, std::function<void(bool)> answered) {
  const BookedPod* const mine = book_.find_pod(pod_.name);
  if (mine == nullptr || !problem_.empty()) return answered(false);
  round.hub = pod_.name;
  round.started = wall_clock_seconds();
  EtcdChange change;
  change.only_if.push_back({pod_key(pod_.name), EtcdCompare::What::Created, mine->created});
  change.only_if.push_back(
      book_.round ? EtcdCompare{kRoundKey, EtcdCompare::What::Modified, book_.round->modified}
                  : EtcdCompare{kRoundKey, EtcdCompare::What::Absent, 0});
  change.puts.push_back({kRoundKey, write_round(round), EtcdLease::Job});
  etcd_->change(change, [answered = std::move(answered)](const EtcdAnswer& answer) {
    answered(answer.done);
  });
}

void JobRegister::note_waiting() {
  if (!book_.round || !book_.round->is_running || !leads()) return;
  BookedRound round = *book_.round;
  round.is_running = false;
  EtcdChange change;
  change.only_if.push_back({kRoundKey, EtcdCompare::What::Modified, round.modified});
  change.puts.push_back({kRoundKey, write_round(round), EtcdLease::Job});
  etcd_->change(change, [](const EtcdAnswer&) {});
}

void JobRegister::expel(const std::string& name) {
  const BookedPod* const pod = book_.find_pod(name);
  if (pod == nullptr) return;
  const bool is_known = !dead_.insert_or_assign(name, pod->modified).second;
  if (!is_known || problem_.empty()) send_expulsion(name);
}

void JobRegister::send_expulsion(const std::string& name) {
  EtcdChange change;
  change.only_if.push_back({pod_key(name), EtcdCompare::What::Modified, dead_.at(name)});
  change.deletes.push_back(pod_key(name));
  etcd_->change(change, [this, name](const EtcdAnswer& answer) {
    if (answer.problem.empty()) dead_.erase(name);
  });
}

// What the server was not there to hear.
void JobRegister::expel_again() {
  std::erase_if(dead_, [this](const auto& one) {
    const BookedPod* const pod = book_.find_pod(one.first);
    return pod == nullptr || pod->modified != one.second;
  });
  for (const auto& [name, modified] : dead_) send_expulsion(name);
}

// Whoever listened before at the address that is ours now is dead, and its lease may live on.
void JobRegister::expel_predecessors() {
  for (const BookedPod& pod : book_.pods) {
    const bool is_here =
        pod.host == pod_.host && pod.port == pod_.port && pod.machine == pod_.machine;
    if (is_here && pod.name != pod_.name) expel(pod.name);
  }
}

}  // namespace paddle_launch
