// SPDX-License-Identifier: Apache-2.0
// docs/elastic.md; docs/decisions/0026: why a process of its own talks to etcd.
#include "launcher/etcd/etcd.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "launcher/etcd/etcd_keeper.h"
#include "launcher/etcd/etcd_keeper_wire.h"
#include "launcher/os/child.h"
#include "launcher/os/unique_fd.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The longest to wait for a keeper that is dead already to be gone.
constexpr milliseconds kLastBreath{500};
constexpr milliseconds kBetweenKeepers{1000};
constexpr milliseconds kToEndAlone{2000};

// It gives leases back when the launcher is gone, and then ends by itself.
const ChildRecipe kEtcdKeeper{
    .name = "etcd keeper", .dies_with_launcher = false, .own_session = true};

EtcdProblem about_this_node(std::string text) {
  return {EtcdProblem::Kind::Explained, std::move(text)};
}

}  // namespace

Etcd::Etcd(EventLoop& loop, const EtcdSpec& spec, const std::string& prefix,
           std::chrono::seconds ttl, EtcdEvents& events)
    : loop_(loop),
      events_(events),
      orders_{.spec = spec, .prefix = prefix, .ttl = ttl},
      rest_(loop),
      refusal_(loop),
      next_(loop) {
  start();
}

Etcd::~Etcd() {
  if (pid_ < 0) return;
  keeper_.push(pack_close({.job_too = false, .budget = kToEndAlone}));
  let_go();
}

void Etcd::start() {
  Child child = start_child(kEtcdKeeper,
                            [this](FramePipe launcher) { be_the_etcd_keeper(launcher, orders_); });
  pid_ = child.pid;
  keeper_ = std::move(child.pipe);
  loop_.on_readable(keeper_.fd(), [this] { turn(); });
}

void Etcd::restart() {
  refuse_all();
  try {
    start();
  } catch (const std::system_error& error) {
    next_.set(kBetweenKeepers, [this] { restart(); });
    tell_connection(
        about_this_node(fmt::format("no process could be made to talk to etcd: {}", error.what())));
  }
}

void Etcd::let_go() {
  if (keeper_.is_open()) loop_.forget(keeper_.fd());
  keeper_ = FramePipe();
}

void Etcd::change(const EtcdChange& change, Answered answered) {
  waiting_.push_back(std::move(answered));
  if (keeper_.is_open()) {
    keeper_.push(pack_change(change));
    return flush();
  }
  refusal_.set(milliseconds(0), [this] { refuse_all(); });
}

void Etcd::adopt_job_lease(std::int64_t lease) {
  orders_.held.job_is_ours = orders_.held.job_is_ours && orders_.held.job == lease;
  orders_.held.job = lease;
  if (!keeper_.is_open()) return;
  keeper_.push(pack_adoption(lease));
  flush();
}

void Etcd::flush() {
  keeper_.flush();
  if (!keeper_.is_open()) return;
  loop_.on_writable(keeper_.fd(),
                    keeper_.has_backlog() ? [this] { turn(); } : EventLoop::Callback());
}

void Etcd::turn() {
  const pid_t keeper = pid_;
  flush();
  const bool is_there = keeper_.receive();
  deliver();
  // A callback may have closed this, or have come here itself in a loop of its own.
  if (!is_there && keeper_.is_open() && pid_ == keeper) explain_the_end();
}

// Each frame is taken out before it is acted upon: callbacks may throw, or run the loop themselves.
void Etcd::deliver() {
  try {
    while (const auto frame = keeper_.next()) take(*frame);
  } catch (...) {
    rest_.set(milliseconds(0), [this] { deliver(); });
    throw;
  }
}

void Etcd::take(const std::string& frame) {
  const std::string_view fields = std::string_view(frame).substr(1);
  switch (static_cast<EtcdWord>(frame.front())) {
    case EtcdWord::Connection:
      if (const auto problem = unpack_connection(fields)) tell_connection(*problem);
      break;
    case EtcdWord::Entries:
      if (const auto entries = unpack_entries(fields)) events_.on_entries(*entries);
      break;
    case EtcdWord::Leases:
      if (const auto held = unpack_leases(fields)) orders_.held = *held;
      break;
    case EtcdWord::Answer:
      if (const auto answer = unpack_answer(fields); answer && !waiting_.empty()) {
        const Answered answered = std::move(waiting_.front());
        waiting_.pop_front();
        answered(*answer);
      }
      break;
    default:
      break;
  }
}

void Etcd::tell_connection(const EtcdProblem& problem) {
  if (problem_ == problem) return;
  problem_ = problem;
  events_.on_connection(problem);
}

void Etcd::explain_the_end() {
  let_go();
  int status = 0;
  std::string how;
  if (is_gone_within(std::exchange(pid_, -1), kLastBreath, &status) && WIFSIGNALED(status)) {
    how = fmt::format(" by {}", signal_name(WTERMSIG(status)));
  }
  next_.set(kBetweenKeepers, [this] { restart(); });
  refusal_.set(milliseconds(0), [this] { refuse_all(); });
  tell_connection(about_this_node(
      fmt::format("the process that talks to etcd ended{}; another one is started", how)));
}

void Etcd::refuse_all() {
  refusal_.stop();
  const EtcdAnswer answer{.problem = is_closed_ ? "the connection to etcd was closed"
                                                : problem_.value_or(EtcdProblem{}).text};
  // Only those that are there now: a callback may ask again at once.
  for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty(); --left) {
    const Answered answered = std::move(waiting_.front());
    waiting_.pop_front();
    answered(answer);
  }
}

void Etcd::close(bool job_too, milliseconds patience) {
  is_closed_ = true;
  waiting_.clear();
  rest_.stop();
  refusal_.stop();
  next_.stop();
  const auto until = steady_clock::now() + patience;
  // A keeper that was killed leaves the leases to another one, once.
  if (!end_keeper(job_too, until)) end_keeper(job_too, until);
}

// False: somebody killed it meanwhile.
bool Etcd::end_keeper(bool job_too, steady_clock::time_point until) {
  const auto left = [until] {
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - steady_clock::now()));
  };
  if (pid_ < 0) {
    if (orders_.held.pod == 0 && orders_.held.job == 0) return true;
    try {
      start();
    } catch (const std::system_error&) {
      return true;  // the leases run out by themselves
    }
  }
  // The keeper's own patience ends a little before ours.
  keeper_.push(pack_close({.job_too = job_too, .budget = left() - left() / 8}));
  while (keeper_.has_backlog() && left().count() > 0) {
    pollfd waiting{keeper_.fd(), POLLOUT, 0};
    poll(&waiting, 1, static_cast<int>(left().count()));
    keeper_.flush();
  }
  int status = 0;
  const bool is_gone = is_gone_within(pid_, left(), &status);
  if (!is_gone) {
    kill(pid_, SIGKILL);
    is_gone_within(pid_, kLastBreath);
  }
  pid_ = -1;
  let_go();
  return !is_gone || !WIFSIGNALED(status);
}

}  // namespace paddle_launch
