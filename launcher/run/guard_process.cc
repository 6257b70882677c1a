// SPDX-License-Identifier: Apache-2.0
// The guard's life: it opens the logs (guard_logs), starts the processes, and then waits for their
// ends, for orders and for the launcher's own end. Its three phases, and what happens in each:
//
//                        Running               Stopping              Killing
//   Stop, launcher gone, SIGTERM to each       -                     -
//   or cannot start one  worker; Stopping
//   Kill                 Killing               Killing               30 s anew
//   a worker ends        reported; the last    reported              reported
//                        one: as Stop
//   an orphan is seen    -                     SIGTERM, once         SIGKILL
//   StartRest            they are started      too late              too late
//   Signal, Freeze, Thaw to each living worker in every phase
//   the grace is over    -                     Killing               -
//   every 2 ms           -                     -                     SIGKILL to all that is left
//   no child is left     the end, unless some  the end               the end
//                        are still held back
//   30 s are over        -                     -                     survivors are reported; the
//   end
//
// "No child is left" is what wait() says, never a scan. docs/architecture.md, "How stopping works".
#include "launcher/run/guard_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <utility>

#include "launcher/job/errors.h"
#include "launcher/os/check.h"
#include "launcher/os/child.h"
#include "launcher/os/clock.h"
#include "launcher/os/processes.h"
#include "launcher/run/log_directory.h"
#include "launcher/run/start_process.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::milliseconds kKillAgainAfter{2};

std::int64_t nanoseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

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

std::string assignment(const EnvVar& variable) { return variable.first + "=" + variable.second; }

}  // namespace

GuardProcess::GuardProcess(const ProcessPlan& plan, const GuardSettings& settings, FramePipe orders,
                           UniqueFd launcher)
    : plan_(plan),
      settings_(settings),
      orders_(std::move(orders)),
      launcher_(std::move(launcher)),
      logs_(plan, settings, *this),
      workers_(plan.processes.size()) {
  leave_the_launchers_world();
}

void GuardProcess::leave_the_launchers_world() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (!settings_.own_session) setpgid(0, 0);
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
      report({.kind = GuardReport::Kind::Frozen});
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
  report({.kind = GuardReport::Kind::Drained});
  while (launcher_alive_ && orders_.has_backlog()) {
    send_reports();
    if (orders_.has_backlog()) wait_for_something();
  }
}

void GuardProcess::open_for_workers() {
  try {
    if (!logs_.open()) return;
  } catch (const UsageError& error) {
    say(GuardReport::Kind::Refused, error.what());
    return stop();
  } catch (const std::exception& error) {
    say(GuardReport::Kind::Failed, error.what());
    return stop();
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    report({.kind = GuardReport::Kind::LogBegins,
            .worker = static_cast<std::int32_t>(i),
            .log_begins = logs_.begins_at(i)});
  }
  report({.kind = GuardReport::Kind::Opened});
  send_reports();
  goes_on(std::chrono::milliseconds(0));
}

void GuardProcess::say(GuardReport::Kind kind, const std::string& text) {
  orders_.push(guard_frame(GuardReport{.kind = kind}, text));
}

// Whoever is told to stop before it has begun does not begin; the rest waits.
bool GuardProcess::goes_on(std::chrono::milliseconds patience) {
  std::array<pollfd, 2> watched = {pollfd{orders_.fd(), POLLIN, 0},
                                   pollfd{launcher_.get(), POLLIN, 0}};
  poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
  if (watched[1].revents != 0) launcher_alive_ = false;
  for (const GuardOrder& order : receive_orders()) {
    if (order.kind == GuardOrder::Kind::Stop || order.kind == GuardOrder::Kind::Kill) {
      obey(order);
    } else {
      early_orders_.push_back(order);
    }
  }
  if (!launcher_alive_) stop();
  return phase_ == Phase::Running;
}

void GuardProcess::start_first() {
  if (phase_ != Phase::Running) return;
  rest_held_back_ = plan_.held_back > 0;
  start_workers(0, workers_.size() - static_cast<std::size_t>(plan_.held_back));
  if (phase_ == Phase::Running) report({.kind = GuardReport::Kind::Started});
  for (const GuardOrder& order : std::exchange(early_orders_, {})) obey(order);
}

void GuardProcess::start_rest() {
  if (!rest_waits()) return;
  rest_held_back_ = false;
  start_workers(workers_.size() - static_cast<std::size_t>(plan_.held_back), workers_.size());
  // The order may have crossed a Ctrl-Z, after which everybody stands still.
  if (frozen_) freeze();
}

void GuardProcess::start_workers(std::size_t first, std::size_t end) {
  std::vector<std::string> shared_env;
  for (const EnvVar& variable : plan_.inherited) shared_env.push_back(assignment(variable));
  for (const EnvVar& variable : plan_.common_env) shared_env.push_back(assignment(variable));
  for (std::size_t i = first; i < end; ++i) {
    if (!start_worker(i, shared_env)) return;
  }
  if (rest_held_back_) return;
  console_output_.reset();
  console_errors_.reset();
}

StartResult GuardProcess::start(std::size_t index, const StartRequest& request) const {
  const OwnFunction* const function = plan_.function;
  if (function == nullptr) return start_process(request);
  return start_function(request, *function, [this, function, index] {
    return function->call(index, plan_.processes.size(), plan_.processes[index].rank);
  });
}

bool GuardProcess::start_worker(std::size_t index, const std::vector<std::string>& shared_env) {
  const ProcessSpec& spec = plan_.processes[index];
  const UniqueFd& log = logs_.of(index);
  logs_.write_start_line(index);
  std::vector<std::string> own_env;
  for (const EnvVar& variable : spec.env) own_env.push_back(assignment(variable));
  const std::vector<char*> argv = pointers(plan_.argv, {});
  const std::vector<char*> env = pointers(shared_env, own_env);
  const CpuMask cpus(spec.cpus);
  const StartRequest request{.program = plan_.program.c_str(),
                             .argv = argv.data(),
                             .env = env.data(),
                             .stdin_fd = spec.has_stdin ? STDIN_FILENO : null_.get(),
                             .output_fd = log ? log.get() : console_output_.get(),
                             .error_fd = log ? log.get() : console_errors_.get(),
                             .cpus = cpus.get(),
                             .cpus_size = cpus.size(),
                             .inherited = settings_.inherited,
                             .take_terminal = settings_.lend_terminal && spec.has_stdin};
  const StartResult result = start(index, request);
  if (result.error != 0) {
    report_not_started(index, result.error, result.exec);
    return false;
  }
  workers_[index].pid = result.pid;
  workers_[index].started = Clock::now();
  return true;
}

void GuardProcess::report_not_started(std::size_t index, int error, bool exec) {
  report({.kind = GuardReport::Kind::NotStarted,
          .exec = exec,
          .worker = static_cast<std::int32_t>(index),
          .error = error});
  stop();
}

std::vector<GuardOrder> GuardProcess::receive_orders() {
  if (!orders_.receive()) launcher_alive_ = false;
  std::vector<GuardOrder> orders;
  while (const auto frame = orders_.next()) {
    std::string_view rest = *frame;
    orders.push_back(take_from<GuardOrder>(rest));
  }
  return orders;
}

void GuardProcess::obey(const GuardOrder& order) {
  switch (order.kind) {
    case GuardOrder::Kind::Stop:
      report({.kind = GuardReport::Kind::Obeys});
      return stop();
    case GuardOrder::Kind::Kill:
      report({.kind = GuardReport::Kind::Obeys});
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
    workers_[i].log_at_stop = size_of(logs_.of(i));
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
    report({.kind = GuardReport::Kind::Survivor,
            .worker = index == kNobody ? -1 : static_cast<std::int32_t>(index),
            .pid = pid});
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
  report({.kind = GuardReport::Kind::Exited,
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
  report({.kind = GuardReport::Kind::Suspended,
          .worker = static_cast<std::int32_t>(index),
          .pid = worker.pid});
}

int GuardProcess::poll_timeout() const {
  if (phase_ == Phase::Running && !freezing_) return -1;
  if (phase_ == Phase::Killing) return static_cast<int>(kKillAgainAfter.count());
  return milliseconds_until(phase_ == Phase::Running ? freezing_until_ : deadline_);
}

void GuardProcess::wait_for_something() {
  const auto wanted = static_cast<short>(POLLIN | (orders_.has_backlog() ? POLLOUT : 0));
  std::array<pollfd, 3> watched = {pollfd{children_.get(), POLLIN, 0},
                                   pollfd{launcher_alive_ ? orders_.fd() : -1, wanted, 0},
                                   pollfd{launcher_alive_ ? launcher_.get() : -1, POLLIN, 0}};
  poll(watched.data(), watched.size(), poll_timeout());
  signalfd_siginfo ignored{};
  while (read(children_.get(), &ignored, sizeof ignored) == sizeof ignored) {
  }
  if (watched[1].revents != 0) {
    for (const GuardOrder& order : receive_orders()) obey(order);
  }
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
  if (launcher_alive_ && !orders_.flush()) launcher_alive_ = false;
}

}  // namespace paddle_launch
