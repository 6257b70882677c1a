// SPDX-License-Identifier: Apache-2.0
// This pod's entry in the book that etcd keeps of an elastic job: makes it, renews it when it
// vanished, and tells what else stands there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "launcher/etcd/etcd.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/job_book.h"

namespace paddle_launch {

struct RegisterSettings {
  ElasticSpec spec{};
  std::string job_id{};
  std::string version{};  // of the launcher
  std::string command{};
  std::string machine{};
  bool has_token = false;  // no secret goes into etcd
};

class JobRegister final : EtcdEvents {
 public:
  JobRegister(EventLoop& loop, RegisterSettings settings);

  // Waits until the job and this pod are booked. Throws NodeMissing where the server does not
  // answer, UsageError where the running job is not this launch's. Later nothing that stands in
  // etcd is an error.
  void open(const std::string& host, int port);

  const JobBook& book() const { return book_; }
  NodeRange nodes() const { return book_.wanted().value_or(settings_.spec.nodes); }
  const std::string& secret() const { return secret_; }
  pid_t keeper() const { return etcd_->pid(); }
  const std::string& name() const { return pod_.name; }
  bool is_booked() const { return book_.find_pod(pod_.name) != nullptr; }

  // Who is to be the hub: that of the last round as long as it is booked, else the most senior pod.
  const BookedPod* leader() const;
  bool leads() const;

  // Called whenever the book or the connection changed; replaces the one before.
  void on_change(std::function<void()> callback) { changed_ = std::move(callback); }
  // What is wrong with the server, and since when; empty: it answers.
  const std::string& problem() const { return problem_.text; }
  // Called when the server has been silent for longer than the leases last, when it is back, and
  // once when somebody else has written into the job's keys.
  void on_warning(std::function<void(const std::string& line)> callback) {
    warning_ = std::move(callback);
  }

  // Whether an entry that vanished is made again as it was. Not while this pod gathers the others:
  // then somebody has struck it out, and has another hub.
  void keep_name(bool keep) { keeps_name_ = keep; }
  // A new entry with a new name, at the end of the queue.
  void book_anew(const std::string& host, int port);

  // Only while this pod is booked and nobody else has committed a round.
  void commit(BookedRound round, std::function<void(bool)> answered);
  // Nodes are missing: the last round is over, for whoever asks.
  void note_waiting();
  // Strikes out a pod that is dead, as soon as the server answers; one that is not comes back by
  // itself.
  void expel(const std::string& name);

  // Nothing is booked any more. `job_is_over`: for nobody.
  void leave(bool job_is_over);

 private:
  void on_entries(const std::vector<EtcdEntry>& entries) override;
  void on_connection(const EtcdProblem& problem) override;
  void warn(const std::string& line) const;
  void restore(const JobBook& before);
  void expel_predecessors();
  void expel_again();
  void send_expulsion(const std::string& name);
  void mind_own_entry();
  void write_entry();
  std::string objection() const;
  std::string other_numbers() const;
  std::string other_token() const;
  void wait_until(const std::function<bool()>& is_so, std::chrono::milliseconds deadline);
  BookedJob new_job() const;

  EventLoop& loop_;
  RegisterSettings settings_;
  JobBook book_;
  bool was_read_ = false;
  EtcdProblem problem_;
  BookedPod pod_;
  std::string secret_;
  bool belongs_ = false;  // was booked once
  std::string refusal_;   // why it may not be booked at all
  bool wants_entry_ = false;
  bool is_writing_ = false;
  bool keeps_name_ = true;
  bool told_silence_ = false;
  bool told_foreign_ = false;
  std::int64_t job_lease_ = 0;
  std::map<std::string, std::int64_t> dead_;  // struck out, and when they were written
  std::function<void()> changed_;
  std::function<void(const std::string&)> warning_;
  Alarm silent_;
  Alarm again_;
  std::optional<Etcd> etcd_;  // last: its events call the others
};

}  // namespace paddle_launch
