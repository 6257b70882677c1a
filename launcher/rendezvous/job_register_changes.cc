// SPDX-License-Identifier: Apache-2.0
// What a pod writes into the job's book beside its own entry: rounds, what others spoilt, and who
// is dead.
#include <utility>

#include <fmt/format.h>

#include "launcher/os/clock.h"
#include "launcher/rendezvous/job_register.h"

namespace paddle_launch {

void JobRegister::commit(BookedRound round, std::function<void(bool)> answered) {
  const BookedPod* const mine = book_.find_pod(pod_.name);
  if (mine == nullptr || !problem_.empty()) return answered(false);
  round.hub = pod_.name;
  round.started = wall_clock_seconds();
  EtcdChange change;
  change.only_if.push_back({pod_key(pod_.name), EtcdCompare::What::Created, mine->created});
  change.only_if.push_back(as_it_stands(kRoundKey, book_.round_key));
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
  change.only_if.push_back(as_it_stands(kRoundKey, book_.round_key));
  change.puts.push_back({kRoundKey, write_round(round), EtcdLease::Job});
  etcd_->change(change, [](const EtcdAnswer&) {});
}

// Keys that somebody changed or deleted count as they were, and whoever leads writes them again:
// etcd is where nodes meet, and nothing that runs depends on it.
void JobRegister::restore(const JobBook& before) {
  EtcdChange change;
  bool is_foreign = false;
  const auto put = [&](const char* key, std::int64_t revision, std::string value) {
    is_foreign = is_foreign || revision != 0;
    change.only_if.push_back(as_it_stands(key, revision));
    change.puts.push_back({key, std::move(value), EtcdLease::Job});
  };
  if (!book_.job) {
    book_.job = before.job;
    put(kJobKey, book_.job_key, write_job(*book_.job));
  }
  if (!book_.round && before.round) {
    book_.round = before.round;
    put(kRoundKey, book_.round_key, write_round(*book_.round));
  }
  if (is_foreign && !std::exchange(told_foreign_, true)) {
    warn(fmt::format(
        "somebody else has written into the keys of this job in etcd (below {}); the job goes on, "
        "and the node that holds it together writes them again",
        prefix_of(settings_.job_id)));
  }
  if (leads() && !change.puts.empty()) etcd_->change(change, [](const EtcdAnswer&) {});
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
