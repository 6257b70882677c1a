// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/supervisor.h"

#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <exception>
#include <utility>

#include "launcher/os/clock.h"
#include "launcher/os/processes.h"

namespace paddle_launch {
namespace {

// Slurm signals all processes of a task one after the other.
constexpr std::chrono::milliseconds kForOurOwnSignal{250};
// How much longer than its neighbour one takes to end that prints a traceback and takes itself
// apart, also on a busy machine or another node.
constexpr std::chrono::milliseconds kForTheCause{1000};
constexpr std::chrono::seconds kSlowStart{10};

SteadyTime at(std::int64_t nanoseconds) {
  return SteadyTime(std::chrono::nanoseconds(nanoseconds));
}

ProcessExit exit_of(const GuardReport& report) {
  return {.worker = report.worker,
          .pid = report.pid,
          .code = report.code,
          .signal = report.signal,
          .core_dumped = report.core_dumped,
          .was_told_to_stop = report.was_told_to_stop,
          .log_at_stop = report.log_at_stop,
          .started = at(report.started_ns),
          .ended = at(report.ended_ns)};
}

NotStarted not_started(const GuardReport& report) {
  return {.worker = report.worker,
          .error = report.error,
          .step = report.exec ? NotStarted::Step::Execute : NotStarted::Step::Fork};
}

}  // namespace

// The guard may hang on a dead disk, before the first process (Opening) or at one of them
// (Starting), and then neither answers nor ends:
//
// phase    | Opened   | Started | 10 s later | Stop, no answer     | Kill, no answer | its end
// Opening  | Starting | -       | told       | after 2 s: Killed   | 2 s: Killed     | GuardLost
// Starting | -        | Working | told       | grace + 2 s: Killed | 2 s: Killed     | GuardLost
// Working  | -        | -       | -          | grace + 2 s: Killed | 2 s: Killed     | GuardLost
// Killed   | -        | -       | -          | -                   | -               | done
//
// Killed, and not gone within 2 s: it is left to the kernel. Each signal that asks the launcher to
// end is another Stop.

Supervisor::Supervisor(EventLoop& loop, Guard& guard, Console& console, SignalWatch& signals,
                       const Terminal& terminal, StopPolicy policy, Observer& observer)
    : loop_(loop),
      guard_(guard),
      console_(console),
      signals_(signals),
      terminal_(terminal),
      policy_(std::move(policy)),
      observer_(observer),
      doubt_(loop),
      slow_start_(loop),
      answer_(loop) {}

Supervisor::~Supervisor() {
  loop_.forget(guard_.fd());
  loop_.forget(signals_.fd());
  if (console_watched_) loop_.forget(console_.fd());
}

RoundResult Supervisor::run(std::chrono::milliseconds patience) {
  try {
    loop_.on_readable(guard_.fd(), [this] { take_reports(); });
    loop_.on_readable(signals_.fd(), [this] { take_signals(); });
    slow_start_.set(kSlowStart, [this] { tell_slow_start(); });
    observer_.on_watching();
    loop_.run_until([this] { return is_over(); });
  } catch (const std::exception& error) {
    see_out(error.what(), patience);
  }
  return {policy_.outcome(), policy_.exits(),
          survivors_,        interrupted_after_verdict_,
          ending_signal_,    policy_.has_verdict() ? std::nullopt : refusal_,
          failure_};
}

// The loop cannot be trusted any more: the rest is done without it. Guard and signals are enough to
// stop every process; whatever else fails on the way is part of the same trouble.
void Supervisor::see_out(const std::string& failure, std::chrono::milliseconds patience) {
  failure_ = failure;
  const auto in_any_case = [](const std::function<void()>& act) {
    try {
      act();
    } catch (const std::exception&) {
    }
  };
  in_any_case([&] { carry_out(policy_.launcher_failed(failure)); });
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (!is_over()) {
    std::array<pollfd, 2> watched = {pollfd{guard_.fd(), POLLIN, 0},
                                     pollfd{signals_.fd(), POLLIN, 0}};
    if (poll(watched.data(), watched.size(), milliseconds_until(deadline)) == 0) {
      if (std::exchange(guard_phase_, GuardPhase::Killed) == GuardPhase::Killed) {
        return guard_is_gone(kPatienceWithGuard);  // it hangs where no signal reaches it
      }
      kill(guard_.pid(), SIGKILL);  // the trainers die with it
      deadline += kPatienceWithSigkill;
    }
    in_any_case([this] { take_reports(); });
    in_any_case([this] { take_signals(); });
  }
}

// An exception that one report leads to does not lose those behind it.
void Supervisor::take_reports() {
  const Guard::Reports received = guard_.receive();
  for (const Guard::Words& words : received.words) on_words(words);
  reports_.insert(reports_.end(), received.reports.begin(), received.reports.end());
  while (!reports_.empty()) {
    const GuardReport report = reports_.front();
    reports_.pop_front();
    on_report(report);
  }
  if (received.guard_is_gone && !drained_ && !guard_is_gone_) guard_is_gone(kPatienceWithSigkill);
}

void Supervisor::on_words(const Guard::Words& words) {
  using Kind = GuardReport::Kind;
  if (words.kind == Kind::Refused || words.kind == Kind::Failed) {
    refusal_ = {words.kind == Kind::Refused, words.text};
  } else if (words.kind == Kind::Warns) {
    opened_.warnings.push_back(words.text);
  } else {
    slow_start_.stop();
    observer_.on_waiting_for_log(words.text);
  }
}

void Supervisor::note_opened() {
  if (guard_phase_ == GuardPhase::Opening) guard_phase_ = GuardPhase::Starting;
  observer_.on_logs_open(opened_);
}

void Supervisor::tell_slow_start() { observer_.on_hang(guard_phase_ == GuardPhase::Opening); }

void Supervisor::on_report(const GuardReport& report) {
  switch (report.kind) {
    case GuardReport::Kind::LogBegins:
      opened_.begins.push_back(report.log_begins);
      return;
    case GuardReport::Kind::Opened:
      return note_opened();
    case GuardReport::Kind::Started:
      if (guard_phase_ == GuardPhase::Starting) guard_phase_ = GuardPhase::Working;
      slow_start_.stop();
      observer_.on_started();
      return;
    case GuardReport::Kind::Obeys:
      if (guard_phase_ != GuardPhase::Killed) answer_.stop();
      return;
    case GuardReport::Kind::Exited:
      return on_exit(exit_of(report));
    case GuardReport::Kind::NotStarted:
      return carry_out(policy_.not_started(not_started(report)));
    case GuardReport::Kind::Suspended:
      return begin_suspension();
    case GuardReport::Kind::Frozen:
      return suspend();
    case GuardReport::Kind::Survivor:
      survivors_.push_back(report.pid);
      return;
    case GuardReport::Kind::Drained:
      drained_ = true;
      return;
    case GuardReport::Kind::Refused:
    case GuardReport::Kind::Failed:
    case GuardReport::Kind::WaitsFor:
    case GuardReport::Kind::Warns:
      return;  // words
  }
}

// Who loses a neighbour raises an exception or aborts.
bool Supervisor::is_secondary(const ProcessExit& exit) {
  const bool may_be = exit.failed_by_itself() && (exit.code == 1 || exit.signal == SIGABRT);
  return may_be && !policy_.has_verdict() && observer_.is_secondary(exit.worker);
}

void Supervisor::on_exit(const ProcessExit& exit) {
  observer_.on_exit(exit.worker);
  carry_out(policy_.worker_exited(exit, is_secondary(exit)));
  if (policy_.has_verdict()) return;
  if (!exit.failed()) observer_.on_good_exit(exit.worker);
  if (!policy_.workers_are_done() || std::exchange(workers_done_told_, true)) return;
  observer_.on_workers_done();
}

void Supervisor::take_signals() {
  while (const std::optional<int> signal = signals_.next()) on_signal(*signal);
}

void Supervisor::on_signal(int signal) {
  if (signal == SIGUSR1 || signal == SIGUSR2) return guard_.order(GuardOrder::Kind::Signal, signal);
  if (signal == SIGTSTP) return begin_suspension();
  if (signal == SIGCHLD) return reap_strangers();
  interrupted_after_verdict_ = interrupted_after_verdict_ || policy_.has_verdict();
  if (ending_signal_ == 0) ending_signal_ = signal;
  const StopPolicy::Order order = policy_.interrupted(signal, std::chrono::steady_clock::now());
  if (order != StopPolicy::Order::Nothing) return carry_out(order);
  order_stop();  // once more: the guard that obeyed may have come to a standstill since
}

void Supervisor::stop_because(const StopCause& cause) { carry_out(policy_.job_stopped(cause)); }

void Supervisor::start_rest() {
  if (!policy_.rest_may_start()) return;
  guard_.order(GuardOrder::Kind::StartRest);
  policy_.rest_started();
}

void Supervisor::kill_now() {
  guard_.order(GuardOrder::Kind::Kill);
  // Whoever interrupts again and again is not to wait longer for it.
  if (!std::exchange(kill_ordered_, true)) expect_answer(kPatienceWithGuard);
}

void Supervisor::order_stop() {
  if (answer_.is_set()) return;
  guard_.order(GuardOrder::Kind::Stop);
  const bool nothing_runs = guard_phase_ == GuardPhase::Opening;
  expect_answer(nothing_runs ? kPatienceWithGuard : guard_.grace() + kPatienceWithGuard);
}

void Supervisor::expect_answer(std::chrono::milliseconds patience) {
  if (drained_ || guard_phase_ == GuardPhase::Killed) return;
  answer_.set(patience, [this] { kill_guard(); });
}

// It hangs, or was stopped. The trainers die with it, unless it hangs where no signal reaches it.
void Supervisor::kill_guard() {
  const bool nothing_runs = guard_phase_ == GuardPhase::Opening;
  guard_phase_ = GuardPhase::Killed;
  slow_start_.stop();
  kill(guard_.pid(), SIGKILL);
  answer_.set(kPatienceWithGuard, [this, nothing_runs] {
    if (!nothing_runs) kill_children_of_stuck(guard_.pid(), kPatienceWithSigkill);
    guard_is_gone(kPatienceWithGuard);
  });
}

void Supervisor::carry_out(StopPolicy::Order order) {
  if (order == StopPolicy::Order::Nothing) return;
  const bool is_for_cause = order == StopPolicy::Order::WaitForCause;
  if (is_for_cause || order == StopPolicy::Order::WaitForSignal) {
    if (doubt_.is_set()) return;
    return doubt_.set(is_for_cause ? kForTheCause : kForOurOwnSignal,
                      [this] { carry_out(policy_.nothing_came()); });
  }
  doubt_.stop();
  if (order == StopPolicy::Order::Kill) {
    kill_now();
    observer_.on_second_interrupt();
  } else {
    order_stop();
    tell_outcome();
  }
  keep_console_flowing();
}

// A good end is worth a word only where something must be stopped for it.
void Supervisor::tell_outcome() {
  const Outcome outcome = policy_.outcome();
  if (std::holds_alternative<Completed>(outcome) && policy_.alive() == 0) return;
  observer_.on_outcome(outcome, guard_phase_ == GuardPhase::Opening ? 0 : policy_.alive());
}

// Ctrl-Z: first the trainers, then the launcher.
void Supervisor::begin_suspension() {
  if (std::exchange(suspending_, true)) return;
  guard_.order(GuardOrder::Kind::Freeze);
}

void Supervisor::suspend() {
  suspending_ = false;
  terminal_.suspend_launcher();
  guard_.order(GuardOrder::Kind::Thaw);
}

// As the first process of a container we inherit orphans that are none of our trainers'.
void Supervisor::reap_strangers() const {
  for (const pid_t pid : children_of_this_process()) {
    if (pid != guard_.pid() && pid != console_.pid()) waitpid(pid, nullptr, WNOHANG);
  }
}

// The trainers died with their parent (PDEATHSIG); what they had started is ours now.
void Supervisor::guard_is_gone(std::chrono::milliseconds patience) {
  answer_.stop();
  slow_start_.stop();
  guard_is_gone_ = true;
  if (policy_.guard_lost() == StopPolicy::Order::Stop)
    observer_.on_outcome(policy_.outcome(), policy_.alive());
  std::vector<pid_t> spared = spared_;
  spared.push_back(console_.pid());
  for (const pid_t pid : kill_children(spared, patience)) survivors_.push_back(pid);
}

// Our lines wait in the console's queue while its reader is slow: send them on when there is room.
void Supervisor::keep_console_flowing() {
  if (!console_.has_unsent() || console_watched_ || console_.fd() < 0) return;
  console_watched_ = true;
  loop_.on_writable(console_.fd(), [this, fd = console_.fd()] {
    console_.send_unsent();
    if (console_.has_unsent()) return;
    loop_.forget(fd);
    console_watched_ = false;
  });
}

}  // namespace paddle_launch
