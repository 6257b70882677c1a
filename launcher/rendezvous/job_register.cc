// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/job_register.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/secret.h"
#include "launcher/etcd/etcd_problem.h"
#include "launcher/job/errors.h"
#include "launcher/job/pod.h"
#include "launcher/os/clock.h"
#include "launcher/os/event_loop.h"
#include "launcher/text/bytes_as_text.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{500};

}  // namespace

JobRegister::JobRegister(EventLoop& loop, RegisterSettings settings)
    : loop_(loop), settings_(std::move(settings)), silent_(loop), again_(loop) {
  etcd_.emplace(loop, settings_.spec.etcd, prefix_of(settings_.job_id), settings_.spec.ttl,
                static_cast<EtcdEvents&>(*this));
}

void JobRegister::open(const std::string& host, int port) {
  pod_ = {.name = random_pod_name(), .host = host, .port = port, .machine = settings_.machine};
  pod_.pid = getpid();
  wants_entry_ = true;
  mind_own_entry();
  wait_until([this] { return belongs_ || !refusal_.empty() || problem_.is_refusal(); },
             kToFindTheServer);
  if (belongs_) return;
  if (!refusal_.empty()) throw UsageError(refusal_);
  throw NodeMissing(why_etcd_is_no_use(settings_.spec.etcd, problem_, kToFindTheServer));
}

void JobRegister::wait_until(const std::function<bool()>& is_so,
                             std::chrono::milliseconds deadline) {
  run_until(loop_, deadline, is_so);
}

void JobRegister::on_entries(const std::vector<EtcdEntry>& entries) {
  const JobBook before = std::exchange(book_, read_book(entries));
  was_read_ = true;
  if (belongs_) restore(before);
  if (book_.job && !book_.pods.empty() && book_.job->lease != job_lease_) {
    job_lease_ = book_.job->lease;
    etcd_->adopt_job_lease(job_lease_);
  }
  if (const BookedPod* const mine = book_.find_pod(pod_.name)) {
    if (pod_.since == 0) pod_.since = mine->created;
    if (book_.job && !std::exchange(belongs_, true)) secret_ = book_.job->secret;
    expel_predecessors();
  }
  mind_own_entry();
  if (changed_) changed_();
}

void JobRegister::warn(const std::string& line) const {
  if (warning_) warning_(line);
}

void JobRegister::on_connection(const EtcdProblem& problem) {
  problem_ = problem;
  if (problem_.empty()) {
    silent_.stop();
    expel_again();
    if (std::exchange(told_silence_, false)) warn("etcd answers again");
  } else if (!silent_.is_set() && !told_silence_) {
    silent_.set(settings_.spec.ttl, [this] {
      told_silence_ = true;
      warn(
          fmt::format("etcd has not answered for {} s ({}); what runs goes on, and nodes can "
                      "neither come nor go "
                      "until it is back",
                      settings_.spec.ttl.count(), problem_.text));
    });
  }
  if (changed_) changed_();
}

void JobRegister::mind_own_entry() {
  if (!wants_entry_ || !was_read_ || is_writing_ || is_booked()) return;
  if (!keeps_name_ && pod_.since > 0) {
    pod_.name = random_pod_name();
    pod_.since = 0;
  }
  write_entry();
}

// Why this launch is not one of the job that is there; empty: it is, or there is none.
std::string JobRegister::objection() const {
  if (book_.job_key == 0) return "";
  if (!book_.job) {
    return fmt::format(
        "--job_id={0}: the key {1}{2} in etcd was not written by this version of paddle-launch; "
        "give this launch a --job_id of its own, or delete the key (etcdctl del --prefix {1})",
        settings_.job_id, prefix_of(settings_.job_id), kJobKey);
  }
  if (book_.pods.empty()) return "";
  const std::string numbers = other_numbers();
  return numbers.empty() ? other_token() : numbers;
}

std::string JobRegister::other_numbers() const {
  const NodeRange running = book_.job->nodes;
  const NodeRange& mine = settings_.spec.nodes;
  if (settings_.spec.force || running == mine || nodes() == mine) return "";
  return fmt::format(
      "{}={}: the running job {} has {} nodes; give the same number, change the job's with --scale "
      "or --force, or give this launch a --job_id of its own",
      settings_.spec.nodes_source, mine.text(), settings_.job_id, running.text());
}

// Only that both have one, or none: the others compare what it is.
std::string JobRegister::other_token() const {
  if (book_.job->secret.empty() == settings_.has_token) return "";
  return fmt::format(
      "--job_id={}: the running job {}; give all its nodes the same token (PADDLE_LAUNCH_TOKEN, "
      "--token_file or ~/.config/paddle-launch/token), or none",
      settings_.job_id,
      settings_.has_token ? "has no token, and this launch has one"
                          : "is protected by a token, and this launch has none");
}

BookedJob JobRegister::new_job() const {
  if (belongs_) return *book_.job;
  BookedJob job{.version = settings_.version,
                .nodes = settings_.spec.nodes,
                .created = wall_clock_seconds(),
                .command = settings_.command};
  if (!settings_.has_token) job.secret = in_hex(bytes_of(random_key()));
  return job;
}

// The job's own entry with it where there is none, or only what a dead job has left.
void JobRegister::write_entry() {
  if (!belongs_) refusal_ = objection();
  if (!refusal_.empty()) return;
  // Somebody deleted the key of a job that is there: whoever leads writes it again, as it was.
  if (!belongs_ && book_.job_key == 0 && !book_.pods.empty()) return;
  EtcdChange change;
  change.only_if.push_back(as_it_stands(kJobKey, book_.job_key));
  if (book_.job_key == 0 || book_.pods.empty()) {
    etcd_->adopt_job_lease(0);
    job_lease_ = 0;
    change.puts.push_back({kJobKey, write_job(new_job()), EtcdLease::Job});
    // What stands there of an earlier job; in our own there may be orders that are still to come.
    if (!belongs_) change.deletes = {kRoundKey, kScaleKey, kStopKey};
  } else if (settings_.spec.force && !belongs_ && book_.job->nodes != settings_.spec.nodes) {
    BookedJob job = *book_.job;
    job.nodes = settings_.spec.nodes;
    change.puts.push_back({kJobKey, write_job(job), EtcdLease::Job});
    change.deletes = {kScaleKey};
  }
  change.puts.push_back({pod_key(pod_.name), write_pod(pod_), EtcdLease::Pod});
  is_writing_ = true;
  etcd_->change(change, [this](const EtcdAnswer& answer) {
    is_writing_ = false;
    // Done: the next look at the book shows it. Otherwise the book has changed, or will.
    if (answer.done) return;
    again_.set(kBetweenTries, [this] {
      mind_own_entry();
      if (changed_) changed_();
    });
  });
}

const BookedPod* JobRegister::leader() const {
  const BookedPod* const hub = book_.round ? book_.find_pod(book_.round->hub) : nullptr;
  if (hub != nullptr) return hub;
  return book_.pods.empty() ? nullptr : &book_.pods.front();
}

bool JobRegister::leads() const {
  const BookedPod* const first = leader();
  return first != nullptr && first->name == pod_.name;
}

void JobRegister::book_anew(const std::string& host, int port) {
  if (is_booked()) expel(pod_.name);
  pod_.name = random_pod_name();
  pod_.since = 0;
  pod_.host = host;
  pod_.port = port;
  mind_own_entry();
}

void JobRegister::leave(bool job_is_over) {
  if (!wants_entry_) return;
  // The last one puts out the light.
  if (is_booked() && book_.pods.size() == 1) job_is_over = true;
  wants_entry_ = false;
  changed_ = {};
  warning_ = {};
  if (job_is_over) etcd_->change({.delete_all = true}, [](const EtcdAnswer&) {});
  etcd_->close(job_is_over, kToLeaveTheServer);
}

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
