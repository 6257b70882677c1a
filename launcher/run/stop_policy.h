// SPDX-License-Identifier: Apache-2.0
// The rule of stopping, pure: events in, orders out. The first cause is the verdict; whatever comes
// after it follows from it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

// Who works in this pod.
struct Crew {
  int processes = 0;
  int held_back = 0;  // of these, started later
  // In a job with servers the trainers: the work is done when they have exited with 0.
  std::set<int> workers{};
};

Crew crew_of(const ProcessPlan& plan);

class StopPolicy {
 public:
  enum class Order { Nothing, Stop, Kill, WaitForSignal, WaitForCause };

  // `terminal_worker`: the worker that owns the terminal; an interrupt typed there is the user's
  // wish to end the job, not a failure of that worker. `scheduler_signals_workers`: whoever signals
  // us may signal the workers as well (Slurm), and one of them may be dead of it before we know.
  explicit StopPolicy(int workers, std::optional<int> terminal_worker = {},
                      bool scheduler_signals_workers = false);
  explicit StopPolicy(Crew crew, std::optional<int> terminal_worker = {},
                      bool scheduler_signals_workers = false);

  // Those who were held back run now.
  void rest_started();
  // `is_secondary`: its last words are of a neighbour that it lost. That neighbour, on whichever
  // node, may only take longer to end: it is waited for a moment, and is the cause if it comes.
  Order worker_exited(const ProcessExit& exit, bool is_secondary = false);
  Order not_started(const NotStarted& problem);
  Order interrupted(int signal, SteadyTime now);
  Order guard_lost();
  Order launcher_failed(const std::string& what);
  Order job_stopped(const StopCause& cause);
  // All workers of the job have ended well. Who is left was there for them: however it ends now, it
  // does not fail.
  Order job_completed();
  // No signal came after Order::WaitForSignal, no other cause after Order::WaitForCause.
  Order nothing_came();

  bool is_waiting() const { return doubted_ && !verdict_; }
  bool has_verdict() const { return verdict_.has_value(); }
  Outcome outcome() const { return verdict_.value_or(Completed{}); }
  // Of those that were started.
  int alive() const { return alive_; }
  bool rest_may_start() const { return held_back_ > 0 && !verdict_; }
  // In a job with servers: this pod has workers, and each has exited with 0.
  bool workers_are_done() const { return has_workers_ && still_working_.empty() && !verdict_; }
  const std::vector<ProcessExit>& exits() const { return exits_; }

 private:
  Order stop(Outcome because);
  template <typename Condition>
  void count_as_stopped_where(Condition is_meant);
  void count_dead_of_signal_as_stopped(int signal);
  void count_secondary_as_stopped();
  void count_all_as_stopped();

  int alive_;
  int held_back_;
  bool has_workers_;             // only in a job with servers
  std::set<int> still_working_;  // workers that have not exited with 0
  std::optional<int> terminal_worker_;
  bool scheduler_signals_workers_;
  // The first process that died of a signal which the launcher may get as well, or that lost a
  // neighbour whose end the launcher may hear of: for a moment it is open whether it is the cause.
  std::optional<ProcessExit> doubted_;
  std::set<int> secondary_;    // died of a loss while there was no verdict
  int schedulers_signal_ = 0;  // who dies of it was told to stop, by the scheduler
  std::optional<Outcome> verdict_;
  std::vector<ProcessExit> exits_;
  std::optional<SteadyTime> first_typed_interrupt_;
};

}  // namespace paddle_launch
