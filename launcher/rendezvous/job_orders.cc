// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/job_orders.h"

#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/etcd/etcd.h"
#include "launcher/etcd/etcd_problem.h"
#include "launcher/job/errors.h"
#include "launcher/os/clock.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/job_book.h"
#include "launcher/site/machine.h"
#include "launcher/site/named_files.h"
#include "launcher/tell/job_status.h"

namespace paddle_launch {
namespace {

// Trainers have their grace, which we do not know.
constexpr std::chrono::seconds kToStop{120};

// One visit: reads the job's book, and writes into it.
class Visit final : EtcdEvents {
 public:
  explicit Visit(const JobOrder& order)
      : order_(order), etcd_(loop_, order.etcd, prefix_of(order.job_id), kToStop, *this) {}
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { etcd_.close(false, kToLeaveTheServer); }

  // The book of a job that is there.
  const JobBook& open() {
    run_until(loop_, kToFindTheServer, [this] { return was_read_ || problem_.is_refusal(); });
    if (!was_read_) {
      throw NodeMissing(why_etcd_is_no_use(order_.etcd, problem_, kToFindTheServer));
    }
    if (book_.job && !book_.pods.empty()) return book_;
    throw LaunchError(fmt::format("--job_id={}: no such job runs at {}; check the name of the job",
                                  order_.job_id, fmt::join(order_.etcd.endpoints, ",")));
  }

  void put(const std::string& key, const std::string& value) {
    etcd_.adopt_job_lease(book_.job->lease);
    bool is_done = false;
    std::string problem;
    EtcdChange change;
    change.only_if.push_back({kJobKey, EtcdCompare::What::Modified, book_.job_key});
    change.puts.push_back({key, value, EtcdLease::Job});
    etcd_.change(change, [&](const EtcdAnswer& answer) {
      is_done = true;
      problem = answer.done ? "" : answer.problem.empty() ? "the job changed" : answer.problem;
    });
    if (!run_until(loop_, kToFindTheServer, [&is_done] { return is_done; })) problem = "no answer";
    if (!problem.empty()) {
      throw LaunchError(fmt::format("etcd did not take the order: {}; try again", problem));
    }
  }

  bool is_gone_within(std::chrono::milliseconds patience) {
    return run_until(loop_, patience, [this] { return !book_.job && book_.pods.empty(); });
  }

 private:
  void on_entries(const std::vector<EtcdEntry>& entries) override {
    book_ = read_book(entries);
    was_read_ = true;
  }
  void on_connection(const EtcdProblem& problem) override { problem_ = problem; }

  const JobOrder& order_;
  JobBook book_;
  bool was_read_ = false;
  EtcdProblem problem_;
  EventLoop loop_;
  Etcd etcd_;
};

JobStatus status_of(const JobOrder& order, const JobBook& book) {
  JobStatus status{.job_id = order.job_id,
                   .wanted = book.wanted().value_or(NodeRange{}).text(),
                   .created = book.job->created};
  const auto add = [&](const std::string& name, const std::string& host, int first, int trainers) {
    const BookedPod* const pod = book.find_pod(name);
    status.nodes.push_back({.host = host,
                            .machine = pod != nullptr ? pod->machine : "",
                            .pid = pod != nullptr ? pod->pid : 0,
                            .first_rank = first,
                            .trainers = trainers});
  };
  std::vector<std::string> placed;
  if (book.round) {
    status.is_running = book.round->is_running;
    status.round = book.round->state;
    status.round_started = book.round->started;
    for (const BookedRound::Pod& pod : book.round->pods) {
      add(pod.name, pod.host, pod.first_rank, pod.trainers);
      placed.push_back(pod.name);
      if (pod.name == book.round->hub) status.hub = pod.host;
    }
  }
  for (const BookedPod& pod : book.pods) {
    const bool has_place = std::find(placed.begin(), placed.end(), pod.name) != placed.end();
    if (!has_place) add(pod.name, pod.host, 0, 0);
  }
  return status;
}

std::string status_text(const JobOrder& order) {
  Visit visit(order);
  const JobStatus status = status_of(order, visit.open());
  const std::int64_t now = wall_clock_seconds();
  return order.json ? job_status_json(status, now) : job_status(status, now);
}

std::string scale(const JobOrder& order, const std::string& from) {
  Visit visit(order);
  const JobBook& book = visit.open();
  const NodeRange range = book.job->nodes;
  if (!range.is_fixed() && order.nodes < range.min) {
    throw UsageError(
        fmt::format("--scale={}: the job {} needs at least {} nodes (--np={}); give "
                    "{} or more, or end the job with --stop",
                    order.nodes, order.job_id, range.min, range.text(), range.min));
  }
  const std::string before = book.wanted().value_or(range).text();
  visit.put(kScaleKey, write_scale(order.nodes, from));
  return fmt::format("job {}: {} node{} from now on, after {}\n", order.job_id, order.nodes,
                     order.nodes == 1 ? "" : "s", before);
}

std::string stop(const JobOrder& order, const std::string& from) {
  Visit visit(order);
  visit.open();
  visit.put(kStopKey, write_stop(from));
  if (visit.is_gone_within(kToStop)) return fmt::format("job {}: stopped\n", order.job_id);
  throw NodeMissing(fmt::format(
      "the job {} was told to stop {} s ago and is still there; look at its nodes with --status",
      order.job_id, kToStop.count()));
}

}  // namespace

std::string carry_out(const JobOrder& order) {
  check_etcd_files(order.etcd);
  const std::string from = look_around().host_name;
  switch (order.kind) {
    case JobOrder::Kind::Status:
      return status_text(order);
    case JobOrder::Kind::Scale:
      return scale(order, from);
    case JobOrder::Kind::Stop:
      return stop(order, from);
  }
  return {};
}

}  // namespace paddle_launch
