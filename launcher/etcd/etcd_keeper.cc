// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0026: why the keeper outlives the launcher for a moment.
#include "launcher/etcd/etcd_keeper.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "launcher/etcd/etcd_keeper_wire.h"
#include "launcher/os/frames.h"
#include "launcher/os/unique_fd.h"

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
      pod_(client_, orders.ttl, *this),
      job_(client_, orders.ttl, *this),
      watch_(client_, orders.prefix, *this),
      changes_(client_, pod_, job_, orders.prefix, *this) {
  if (orders.held.pod != 0) pod_.hold(orders.held.pod, true);
  if (orders.held.job != 0) job_.hold(orders.held.job, orders.held.job_is_ours);
}

void EtcdKeeper::on_lease() {
  launcher_.push(pack_leases({.pod = pod_.id(), .job = job_.id(), .job_is_ours = job_.is_ours()}));
}

void EtcdKeeper::on_silence() { watch_.look_again(); }

void EtcdKeeper::on_entries() { has_news_ = true; }

void EtcdKeeper::on_connection(const EtcdProblem& problem) {
  launcher_.push(pack_connection(problem));
  if (!problem.empty()) return;
  pod_.ask_soon();
  job_.ask_soon();
}

void EtcdKeeper::on_answer(const EtcdAnswer& answer) { launcher_.push(pack_answer(answer)); }

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

namespace {

constexpr unsigned kLastSeconds = 3;

// The end of the socket is what usually tells that the launcher is gone. This is for a keeper that
// is stuck at the time, in a name server or a file system: it must not stay for longer.
void limit_the_time_without_the_launcher() {
  const int parent_is_gone = SIGRTMIN;
  struct sigaction action {};
  action.sa_handler = [](int) { alarm(kLastSeconds); };
  sigaction(parent_is_gone, &action, nullptr);
  signal(SIGALRM, SIG_DFL);
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, parent_is_gone);
  sigaddset(&both, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
  prctl(PR_SET_PDEATHSIG, parent_is_gone);
}

// Without libcurl: every change is answered, with the reason.
void only_answer(FramePipe& launcher, const std::string& problem) {
  launcher.push(pack_connection({EtcdProblem::Kind::Explained, problem}));
  for (bool goes_on = true; goes_on;) {
    const auto events = static_cast<short>(POLLIN | (launcher.has_backlog() ? POLLOUT : 0));
    pollfd waiting{launcher.fd(), events, 0};
    poll(&waiting, 1, -1);
    launcher.flush();
    goes_on = launcher.receive();
    while (const auto frame = launcher.next()) {
      if (frame->starts_with(static_cast<char>(EtcdWord::Close))) return;
      if (!frame->starts_with(static_cast<char>(EtcdWord::Change))) continue;
      launcher.push(pack_answer({.problem = problem}));
    }
  }
}

}  // namespace

void be_the_etcd_keeper(FramePipe& launcher, const KeeperOrders& orders) {
  limit_the_time_without_the_launcher();
  std::optional<EtcdKeeper> keeper;
  try {
    keeper.emplace(launcher, orders);
  } catch (const std::runtime_error& error) {
    return only_answer(launcher, error.what());
  }
  keeper->run();
  _exit(0);  // what libcurl has under way is not waited for
}

}  // namespace paddle_launch
