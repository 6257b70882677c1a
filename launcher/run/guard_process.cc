// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/guard_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/os/clock.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::milliseconds kKillAgainAfter{2};

std::int64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

GuardProcess::GuardProcess(const ProcessPlan& plan, const GuardSettings& settings, UniqueFd socket,
                           UniqueFd launcher)
    : plan_(plan),
      settings_(settings),
      socket_(std::move(socket)),
      launcher_(std::move(launcher)),
      workers_(plan.processes.size()) {
  leave_the_launchers_world();
}

void GuardProcess::leave_the_launchers_world() {
  prctl(PR_SET_NAME, "pl-guard");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Every descriptor is copied and closed once for each trainer; the locks on ports are one a
  // trainer.
  std::vector<int> kept = {socket_.get(), launcher_.get()};
  if (plan_.function != nullptr)
    kept.insert(kept.end(), plan_.function->kept.begin(), plan_.function->kept.end());
  close_all_but(kept);
  // A session of its own: no terminal signal and no hang-up reaches the guard or the trainers.
  if (settings_.own_session) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  children_.reset(check(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
  keep_the_consoles_descriptors();
  // Whoever reads our output must see its end when the launcher ends, not when the guard does.
  null_.reset(check(open("/dev/null", O_RDWR | O_CLOEXEC), "open", "/dev/null"));
  dup2(null_.get(), STDOUT_FILENO);
  dup2(null_.get(), STDERR_FILENO);
}

void GuardProcess::keep_the_consoles_descriptors() {
  const bool some_have_no_log =
      std::any_of(plan_.processes.begin(), plan_.processes.end(),
                  [](const ProcessSpec& spec) { return spec.log_path.empty(); });
  if (!some_have_no_log) return;
  console_output_.reset(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  console_errors_.reset(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

void GuardProcess::run() {
  open_for_workers();
  start_first();
  for (;;) {
    const bool no_child = reap();
    send_reports();
    if (!launcher_alive_) stop();
    if (no_child && !rest_waits()) break;
    if (!any_worker_alive() && !rest_waits()) stop();
    if (freezing_ && (all_suspended() || Clock::now() >= freezing_until_)) {
      freezing_ = false;
      unsent_.push_back({.kind = GuardReport::Kind::Frozen});
      continue;
    }
    if (phase_ == Phase::Stopping) tell_orphans();
    if (phase_ == Phase::Killing) kill_all();
    if (phase_ == Phase::Killing && Clock::now() > deadline_) {
      give_up_on_survivors();
      break;
    }
    wait_for_something();
  }
  if (!settings_.remove_at_end.empty()) unlink(settings_.remove_at_end.c_str());
  unsent_.push_back({.kind = GuardReport::Kind::Drained});
  while (launcher_alive_ && !unsent_.empty()) {
    send_reports();
    if (!unsent_.empty()) wait_for_something();
  }
}

std::size_t GuardProcess::worker_of(pid_t pid) const {
  const auto found = std::find_if(workers_.begin(), workers_.end(),
                                  [pid](const Worker& worker) { return worker.pid == pid; });
  return found == workers_.end() ? kNobody : static_cast<std::size_t>(found - workers_.begin());
}

bool GuardProcess::all_suspended() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.pid <= 0 || worker.suspended; });
}

bool GuardProcess::any_worker_alive() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.pid > 0; });
}

// Takes in every change of state that waits for us. True: the kernel says that there is no child.
bool GuardProcess::reap() {
  for (;;) {
    siginfo_t info{};
    const int result = waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG);
    if (result < 0 && errno == ECHILD) return true;
    if (result < 0 || info.si_pid == 0) return false;
    note(info);
  }
}

void GuardProcess::note(const siginfo_t& info) {
  const bool ended =
      info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
  const std::size_t index = worker_of(info.si_pid);
  if (index == kNobody) {
    if (ended) std::erase(told_orphans_, info.si_pid);
    return;
  }
  if (ended) {
    note_exit(index, info);
  } else {
    note_stop(index, info);
  }
}

// A trainer that does not catch SIGTERM dies of it, and one that the kernel takes apart already
// does not hear it: whoever ended in another way was ending before we told it to stop.
bool GuardProcess::ended_by_itself(const Worker& worker, const siginfo_t& info) const {
  if (!worker.told_to_stop) return true;
  const bool by_our_signal =
      info.si_code != CLD_EXITED &&
      (info.si_status == SIGTERM || (info.si_status == SIGKILL && phase_ == Phase::Killing));
  return !worker.may_answer && !by_our_signal;
}

void GuardProcess::note_exit(std::size_t index, const siginfo_t& info) {
  Worker& worker = workers_[index];
  const bool exited = info.si_code == CLD_EXITED;
  unsent_.push_back({.kind = GuardReport::Kind::Exited,
                     .core_dumped = info.si_code == CLD_DUMPED,
                     .was_told_to_stop = !ended_by_itself(worker, info),
                     .worker = static_cast<std::int32_t>(index),
                     .pid = worker.pid,
                     .code = exited ? info.si_status : 0,
                     .signal = exited ? 0 : info.si_status,
                     .log_at_stop = worker.log_at_stop,
                     .started_ns = nanoseconds(worker.started),
                     .ended_ns = nanoseconds(Clock::now())});
  worker.pid = -1;
}

void GuardProcess::note_stop(std::size_t index, const siginfo_t& info) {
  Worker& worker = workers_[index];
  worker.suspended = info.si_code == CLD_STOPPED;
  const bool at_the_terminal = settings_.lend_terminal && plan_.processes[index].has_stdin;
  if (!worker.suspended || !at_the_terminal) return;
  unsent_.push_back({.kind = GuardReport::Kind::Suspended,
                     .worker = static_cast<std::int32_t>(index),
                     .pid = worker.pid});
}

int GuardProcess::poll_timeout() const {
  if (phase_ == Phase::Running && !freezing_) return -1;
  if (phase_ == Phase::Killing) return static_cast<int>(kKillAgainAfter.count());
  return milliseconds_until(phase_ == Phase::Running ? freezing_until_ : deadline_);
}

void GuardProcess::wait_for_something() {
  const auto wanted = static_cast<short>(POLLIN | (unsent_.empty() ? 0 : POLLOUT));
  std::array<pollfd, 3> watched = {pollfd{children_.get(), POLLIN, 0},
                                   pollfd{launcher_alive_ ? socket_.get() : -1, wanted, 0},
                                   pollfd{launcher_alive_ ? launcher_.get() : -1, POLLIN, 0}};
  poll(watched.data(), watched.size(), poll_timeout());
  signalfd_siginfo ignored{};
  while (read(children_.get(), &ignored, sizeof ignored) == sizeof ignored) {
  }
  if (watched[1].revents != 0) take_orders();
  if (watched[2].revents != 0) launcher_alive_ = false;
  if (phase_ != Phase::Stopping || Clock::now() < deadline_) return;
  // We overslept by more than the whole grace (a suspended machine): the trainers slept as well.
  if (Clock::now() - deadline_ > settings_.grace && settings_.grace.count() > 0 &&
      !grace_renewed_) {
    grace_renewed_ = true;
    deadline_ = Clock::now() + settings_.grace;
    return;
  }
  phase_ = Phase::Killing;
  deadline_ = Clock::now() + kPatienceWithSigkill;
}

void GuardProcess::send_reports() {
  while (!unsent_.empty() && launcher_alive_) {
    const std::size_t count = std::min(unsent_.size(), kReportsInOneMessage);
    const ssize_t sent = send(socket_.get(), unsent_.data(), count * sizeof(GuardReport),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0) launcher_alive_ = false;
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<long>(count));
  }
}

}  // namespace paddle_launch
