// SPDX-License-Identifier: Apache-2.0
// What the guard does on the launcher's order: stop, kill, freeze, pass a signal on. The start of
// those that were held back is in guard_start.cc.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "launcher/os/children.h"
#include "launcher/run/guard_process.h"
#include "launcher/run/log_directory.h"

namespace paddle_launch {
namespace {

// A trainer that waits for a child of vfork does not stop before that one has executed something,
// and the child stands still: the user's Ctrl-Z is not to wait for them.
constexpr std::chrono::seconds kPatienceWithFreezing{1};

// What the kernel knows without asking a file server, which may be dead.
std::int64_t size_of(const UniqueFd& log) {
  struct statx status {};
  const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  const bool known = log && statx(log.get(), "", flags, STATX_SIZE, &status) == 0;
  return known ? static_cast<std::int64_t>(status.stx_size) : -1;
}

}  // namespace

void GuardProcess::take_orders() {
  for (;;) {
    GuardOrder order;
    const ssize_t size = recv(socket_.get(), &order, sizeof order, MSG_DONTWAIT);
    if (size == sizeof order) {
      obey(order);
      continue;
    }
    if (size == 0) launcher_alive_ = false;
    return;
  }
}

void GuardProcess::obey(const GuardOrder& order) {
  switch (order.kind) {
    case GuardOrder::Kind::Stop:
      unsent_.push_back({.kind = GuardReport::Kind::Obeys});
      return stop();
    case GuardOrder::Kind::Kill:
      unsent_.push_back({.kind = GuardReport::Kind::Obeys});
      deadline_ = Clock::now() + kPatienceWithSigkill;
      phase_ = Phase::Killing;
      prctl(PR_SET_NAME, kStoppingGuard);
      return;
    case GuardOrder::Kind::Signal:
      for (const Worker& worker : workers_) {
        if (worker.pid > 0) kill(worker.pid, order.signal);
      }
      return;
    case GuardOrder::Kind::Freeze:
      freezing_ = true;
      freezing_until_ = Clock::now() + kPatienceWithFreezing;
      frozen_ = true;
      return freeze();
    case GuardOrder::Kind::Thaw:
      return thaw();
    case GuardOrder::Kind::StartRest:
      return start_rest();
  }
}

// Not SIGTSTP: the groups are orphaned in the sense of POSIX, and the kernel drops it there.
void GuardProcess::freeze() const {
  for (const Worker& worker : workers_) {
    if (worker.pid > 0) kill(-worker.pid, SIGSTOP);
  }
}

void GuardProcess::thaw() {
  frozen_ = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].pid <= 0) continue;
    if (settings_.lend_terminal && plan_.processes[i].has_stdin)
      tcsetpgrp(STDIN_FILENO, workers_[i].pid);
    kill(-workers_[i].pid, SIGCONT);
  }
}

// SIGTERM goes to the trainer itself, not to its group: a data loader must outlive the trainer's
// checkpoint. What the trainer leaves behind is told by tell_orphans().
void GuardProcess::stop() {
  if (phase_ != Phase::Running) return;
  reap();  // whoever ended before this moment ended by itself
  phase_ = Phase::Stopping;
  prctl(PR_SET_NAME, kStoppingGuard);
  deadline_ = Clock::now() + settings_.grace;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].pid <= 0) continue;
    workers_[i].may_answer = may_answer(workers_[i].pid, SIGTERM);
    workers_[i].log_at_stop = size_of(logs_[i]);
  }
  for (Worker& worker : workers_) {
    if (worker.pid <= 0) continue;
    worker.told_to_stop = true;
    kill(worker.pid, SIGTERM);
    if (worker.suspended) kill(-worker.pid, SIGCONT);
  }
}

// Children of ours that are no trainers lost their parent: each is told once.
void GuardProcess::tell_orphans() {
  for (const pid_t pid : children_of_this_process()) {
    if (worker_of(pid) != kNobody) continue;
    if (std::find(told_orphans_.begin(), told_orphans_.end(), pid) != told_orphans_.end()) continue;
    told_orphans_.push_back(pid);
    kill(pid, SIGTERM);
    kill(pid, SIGCONT);
  }
}

void GuardProcess::kill_all() {
  for (Worker& worker : workers_) worker.told_to_stop = true;
  for (const pid_t pid : children_of_this_process()) kill_with_group(pid);
}

void GuardProcess::give_up_on_survivors() {
  for (const pid_t pid : children_of_this_process()) {
    const std::size_t index = worker_of(pid);
    unsent_.push_back({.kind = GuardReport::Kind::Survivor,
                       .worker = index == kNobody ? -1 : static_cast<std::int32_t>(index),
                       .pid = pid});
  }
}

}  // namespace paddle_launch
