// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/etcd_keeper.h"

#include <algorithm>
#include <utility>

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// When the launcher is gone: long enough for a server that answers, and for a node that goes down.
constexpr milliseconds kWithoutTheLauncher{2000};
constexpr milliseconds kLongestSleep{60'000};

}  // namespace

EtcdKeeper::EtcdKeeper(FramePipe& launcher, const KeeperOrders& orders)
    : launcher_(launcher),
      http_(orders.spec),
      client_(http_, orders.spec, orders.prefix),
      pod_(client_, orders.ttl, lease_events()),
      job_(client_, orders.ttl, lease_events()),
      watch_(client_, orders.prefix,
             {.changed = [this] { has_news_ = true; },
              .connection =
                  [this](const EtcdProblem& problem) {
                    launcher_.push(pack_connection(problem));
                    if (!problem.empty()) return;
                    pod_.ask_soon();
                    job_.ask_soon();
                  }}),
      changes_(
          client_, pod_, job_, orders.prefix,
          {.answered = [this](const EtcdAnswer& answer) { launcher_.push(pack_answer(answer)); },
           .silence = [this] { watch_.look_again(); }}) {
  if (orders.held.pod != 0) pod_.hold(orders.held.pod, true);
  if (orders.held.job != 0) job_.hold(orders.held.job, orders.held.job_is_ours);
}

LeaseEvents EtcdKeeper::lease_events() {
  return {.changed = [this] { tell_leases(); }, .silence = [this] { watch_.look_again(); }};
}

void EtcdKeeper::tell_leases() {
  launcher_.push(pack_leases({.pod = pod_.id(), .job = job_.id(), .job_is_ours = job_.is_ours()}));
}

// A launcher that does not read for a while gets the newest picture only.
void EtcdKeeper::tell_entries() {
  if (has_news_ && !launcher_.has_backlog()) {
    has_news_ = false;
    launcher_.push(pack_entries(watch_.entries()));
  }
}

Moment EtcdKeeper::due() const {
  Moment next = std::min({pod_.due(), job_.due(), watch_.due()});
  if (!ending_) return next;
  return std::min(next, ending_->has_begun ? ending_->until : ending_->changes_until);
}

void EtcdKeeper::run() {
  for (;;) {
    const Moment now = steady_clock::now();
    pod_.on_time(now);
    job_.on_time(now);
    watch_.on_time(now);
    changes_.advance();
    if (is_over(now)) return;
    tell_entries();
    launcher_.flush();
    const Moment next = std::min(due(), now + kLongestSleep);
    const auto longest =
        std::max(milliseconds(0), std::chrono::ceil<milliseconds>(next - steady_clock::now()));
    http_.wait(launcher_is_gone_ ? -1 : launcher_.fd(), launcher_.has_backlog(), longest);
    listen();
  }
}

void EtcdKeeper::listen() {
  if (launcher_is_gone_) return;
  launcher_is_gone_ = !launcher_.receive();
  while (const auto frame = launcher_.next()) take(*frame);
  if (!launcher_is_gone_) return;
  // After a close that was asked for, what it is to do is known already.
  const bool was_asked = ending_.has_value();
  end_within(kWithoutTheLauncher, was_asked && ending_->job_too, was_asked);
}

void EtcdKeeper::take(const std::string& frame) {
  const std::string_view fields =
      std::string_view(frame).substr(std::min<std::size_t>(1, frame.size()));
  switch (static_cast<EtcdWord>(frame.empty() ? '\0' : frame.front())) {
    case EtcdWord::Change:
      if (auto change = unpack_change(fields)) changes_.add(std::move(*change));
      break;
    case EtcdWord::Adopt:
      if (const auto lease = unpack_adoption(fields)) changes_.add_adoption(*lease);
      break;
    case EtcdWord::Close:
      if (const auto order = unpack_close(fields)) end_within(order->budget, order->job_too, true);
      break;
    default:
      break;
  }
}

void EtcdKeeper::end_within(milliseconds budget, bool job_too, bool with_changes) {
  const Moment now = steady_clock::now();
  if (!ending_) {
    ending_ = Ending{.job_too = job_too, .changes_until = Moment::max(), .until = Moment::max()};
  }
  ending_->changes_until = std::min(ending_->changes_until, with_changes ? now + budget / 2 : now);
  ending_->until = std::min(ending_->until, now + budget);
}

bool EtcdKeeper::is_over(Moment now) {
  if (!ending_) return false;
  const bool is_time = changes_.is_idle() || now >= ending_->changes_until;
  if (!ending_->has_begun && is_time) give_back();
  return now >= ending_->until || (ending_->has_begun && ending_->open == 0);
}

void EtcdKeeper::give_back() {
  ending_->has_begun = true;
  watch_.stop();
  changes_.stop();
  const auto answered = [this] { --ending_->open; };
  ++ending_->open;
  pod_.revoke(ending_->until, answered);
  if (!ending_->job_too) return;
  ++ending_->open;
  job_.revoke(ending_->until, answered);
}

}  // namespace paddle_launch
