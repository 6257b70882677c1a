// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/change_queue.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/etcd/gateway.h"

namespace paddle_launch {

using std::chrono::steady_clock;

namespace {

// Whoever waited behind a change that was never answered has a moment left at best, and would be
// told of that moment, not of how long it has waited.
constexpr std::chrono::milliseconds kShortestTry{200};

}  // namespace

ChangeQueue::ChangeQueue(EtcdClient& client, Lease& pod, Lease& job, std::string prefix,
                         KeeperEvents& events)
    : client_(client), pod_(pod), job_(job), prefix_(std::move(prefix)), events_(events) {}

void ChangeQueue::add(EtcdChange change) {
  waiting_.emplace_back(
      Pending{.change = std::move(change), .deadline = steady_clock::now() + kToAnswer});
}

void ChangeQueue::advance() {
  while (!is_busy_ && !is_stopped_ && !waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (const std::int64_t* const lease = std::get_if<std::int64_t>(&next)) {
      job_.adopt(*lease);
      continue;
    }
    now_ = std::move(std::get<Pending>(next));
    is_busy_ = true;
    prepare();
  }
}

bool ChangeQueue::needs(EtcdLease lease) const {
  return std::any_of(now_.change.puts.begin(), now_.change.puts.end(),
                     [lease](const EtcdPut& put) { return put.lease == lease; });
}

void ChangeQueue::prepare() {
  if (is_stopped_) return;
  if (steady_clock::now() + kShortestTry >= now_.deadline) {
    return finish(
        {.problem = client_.with_address(fmt::format("no answer in {} s", kToAnswer.count()))});
  }
  if (needs(EtcdLease::Pod) && pod_.id() == 0) return grant(pod_);
  if (needs(EtcdLease::Job) && job_.id() == 0) return grant(job_);
  send();
}

void ChangeQueue::grant(Lease& lease) {
  lease.grant(now_.deadline, [this](const std::string& problem) {
    problem.empty() ? prepare() : finish({.problem = problem});
  });
}

void ChangeQueue::send() {
  client_.call({.path = kTxnPath,
                .body = txn_request(prefix_, now_.change, {.pod = pod_.id(), .job = job_.id()}),
                .deadline = now_.deadline,
                .may_repeat = false},
               [this](const EtcdReply& reply) { take(reply); });
}

void ChangeQueue::take(const EtcdReply& reply) {
  if (reply.is_lease_gone && !std::exchange(now_.is_second_try, true)) {
    return find_the_lost_lease();
  }
  if (!reply.is_fine) {
    finish({.problem = reply.problem});
    if (reply.is_unreachable) events_.on_silence();
    return;
  }
  const auto held = read_txn(reply.body);
  if (held) return finish({.done = *held});
  finish({.problem = client_.with_address("answers, but not as etcd does (no outcome)")});
}

// The server does not say which of the two it was, and the other one has keys that are to stay.
void ChangeQueue::find_the_lost_lease() {
  pod_.ask([this] { job_.ask([this] { prepare(); }); });
}

void ChangeQueue::finish(const EtcdAnswer& answer) {
  is_busy_ = false;
  events_.on_answer(answer);
}

}  // namespace paddle_launch
