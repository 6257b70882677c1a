// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/stop_policy.h"

#include <csignal>
#include <utility>

#include "launcher/job/errors.h"
#include "launcher/os/signals.h"

namespace paddle_launch {
namespace {

// Closer together, two interrupts are one keypress or one scheduler.
constexpr std::chrono::milliseconds kBetweenInterrupts{500};

bool is_typed(int signal) { return signal == SIGINT || signal == SIGQUIT; }

// The signal that ended it, also where its own handler turned that into an exit code.
int signal_of(const ProcessExit& exit) {
  return exit.signal != 0 ? exit.signal : exit.code - kSignalBase;
}

}  // namespace

Crew crew_of(const ProcessPlan& plan) {
  Crew crew{.processes = static_cast<int>(plan.processes.size()), .held_back = plan.held_back};
  bool has_servers = plan.servers > 0 || plan.held_back > 0;
  for (const ProcessSpec& spec : plan.processes) {
    has_servers = has_servers || spec.role != Role::Trainer;
  }
  for (int i = 0; has_servers && i < crew.processes; ++i) {
    if (plan.processes[static_cast<std::size_t>(i)].role == Role::Trainer) crew.workers.insert(i);
  }
  return crew;
}

StopPolicy::StopPolicy(int workers, std::optional<int> terminal_worker,
                       bool scheduler_signals_workers)
    : StopPolicy(Crew{.processes = workers}, terminal_worker, scheduler_signals_workers) {}

StopPolicy::StopPolicy(Crew crew, std::optional<int> terminal_worker,
                       bool scheduler_signals_workers)
    : alive_(crew.processes - crew.held_back),
      held_back_(crew.held_back),
      has_workers_(!crew.workers.empty()),
      still_working_(std::move(crew.workers)),
      terminal_worker_(terminal_worker),
      scheduler_signals_workers_(scheduler_signals_workers) {}

StopPolicy::Order StopPolicy::stop(Outcome because) {
  if (verdict_) return Order::Nothing;
  verdict_ = std::move(because);
  count_secondary_as_stopped();
  return Order::Stop;
}

void StopPolicy::rest_started() {
  if (rest_may_start()) alive_ += std::exchange(held_back_, 0);
}

StopPolicy::Order StopPolicy::worker_exited(const ProcessExit& exit, bool is_secondary) {
  --alive_;
  exits_.push_back(exit);
  if (!exit.failed()) {
    still_working_.erase(exit.worker);
    return Order::Nothing;
  }
  if (verdict_ == Outcome(Completed{})) count_all_as_stopped();
  if (schedulers_signal_ != 0) count_dead_of_signal_as_stopped(schedulers_signal_);
  if (scheduler_signals_workers_ && !verdict_ && asks_to_end(signal_of(exit))) {
    if (!doubted_) doubted_ = exit;
    return Order::WaitForSignal;
  }
  if (exit.worker == terminal_worker_ && is_typed(exit.signal))
    return stop(Interrupted{exit.signal});
  if (is_secondary && !verdict_) {
    secondary_.insert(exit.worker);
    if (!doubted_) doubted_ = exit;
    return Order::WaitForCause;
  }
  return stop(Failed{exit});
}

// Processes are started in order: those behind this one never were, nor will be.
StopPolicy::Order StopPolicy::not_started(const NotStarted& problem) {
  alive_ = problem.worker - static_cast<int>(exits_.size());
  return stop(problem);
}

StopPolicy::Order StopPolicy::interrupted(int signal, SteadyTime now) {
  const bool again = first_typed_interrupt_ && now - *first_typed_interrupt_ >= kBetweenInterrupts;
  if (is_typed(signal) && again) return Order::Kill;
  if (is_typed(signal) && !first_typed_interrupt_) first_typed_interrupt_ = now;
  if (!verdict_) count_dead_of_signal_as_stopped(signal);
  return stop(Interrupted{signal});
}

StopPolicy::Order StopPolicy::guard_lost() {
  alive_ = 0;
  return stop(GuardLost{});
}

StopPolicy::Order StopPolicy::launcher_failed(const std::string& what) {
  return stop(LauncherFailed{what});
}

StopPolicy::Order StopPolicy::job_completed() {
  const Order order = stop(Completed{});
  if (order == Order::Stop) count_all_as_stopped();
  return order;
}

template <typename Condition>
void StopPolicy::count_as_stopped_where(Condition is_meant) {
  for (ProcessExit& exit : exits_) {
    if (is_meant(exit)) exit.was_told_to_stop = true;
  }
}

// Some may have ended before our SIGTERM reached them.
void StopPolicy::count_all_as_stopped() {
  count_as_stopped_where([](const ProcessExit& exit) { return exit.failed(); });
}

StopPolicy::Order StopPolicy::nothing_came() {
  secondary_.clear();  // then the first of them is the cause
  return doubted_ ? stop(Failed{*doubted_}) : Order::Nothing;
}

void StopPolicy::count_secondary_as_stopped() {
  count_as_stopped_where(
      [this](const ProcessExit& exit) { return secondary_.contains(exit.worker); });
}

void StopPolicy::count_dead_of_signal_as_stopped(int signal) {
  if (!scheduler_signals_workers_) return;
  schedulers_signal_ = signal;
  count_as_stopped_where([signal](const ProcessExit& exit) { return signal_of(exit) == signal; });
}

StopPolicy::Order StopPolicy::job_stopped(const StopCause& cause) {
  if (!verdict_ && cause.kind == StopCause::Kind::Interrupted) {
    count_dead_of_signal_as_stopped(cause.status - kSignalBase);
  }
  return stop(JobStopped{cause});
}

}  // namespace paddle_launch
