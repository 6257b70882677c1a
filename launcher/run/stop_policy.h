// SPDX-License-Identifier: Apache-2.0
// The rule of stopping, pure: events in, orders out. The first cause is the verdict; whatever comes
// after it is its echo.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "launcher/job/outcome.h"

namespace paddle_launch {

class StopPolicy {
 public:
  enum class Order { Nothing, Stop, Kill, WaitForSignal };

  // `terminal_worker`: the worker that owns the terminal; an interrupt typed there is the user's
  // wish to end the job, not a failure of that worker. `scheduler_signals_workers`: whoever signals
  // us may signal the workers as well (Slurm), and one of them may be dead of it before we know.
  explicit StopPolicy(int workers, std::optional<int> terminal_worker = {},
                      bool scheduler_signals_workers = false);

  Order worker_exited(const ProcessExit& exit);
  Order not_started(const NotStarted& problem);
  Order interrupted(int signal, SteadyTime now);
  Order guard_lost();
  Order job_stopped(const StopCause& cause);
  // No signal came after Order::WaitForSignal.
  Order no_signal_came();

  bool is_waiting_for_signal() const { return doubted_ && !verdict_; }
  bool has_verdict() const { return verdict_.has_value(); }
  Outcome outcome() const { return verdict_.value_or(Completed{}); }
  int alive() const { return alive_; }
  const std::vector<ProcessExit>& exits() const { return exits_; }

 private:
  Order stop(Outcome because);
  void forgive_those_who_died_of(int signal);

  int alive_;
  std::optional<int> terminal_worker_;
  bool scheduler_signals_workers_;
  std::optional<ProcessExit> doubted_;  // died of a signal that we may be about to get
  int forgiven_signal_ = 0;             // who dies of it was told to stop, by the scheduler
  std::optional<Outcome> verdict_;
  std::vector<ProcessExit> exits_;
  std::optional<SteadyTime> first_typed_interrupt_;
};

}  // namespace paddle_launch
