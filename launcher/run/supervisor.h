// SPDX-License-Identifier: Apache-2.0
// Watches one round from the first process to the last: takes in the guard's reports and the user's
// signals, asks the stop policy, gives the guard its orders.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"
#include "launcher/run/console.h"
#include "launcher/run/guard.h"
#include "launcher/run/stop_policy.h"
#include "launcher/run/terminal.h"

namespace paddle_launch {

// What the guard did before the first process was started.
struct OpenedLogs {
  std::vector<std::int64_t> begins{};  // where this run begins in each log
  std::vector<std::string> warnings{};
};

// Why nothing was started.
struct StartRefusal {
  bool is_wrong_use = false;
  std::string text;
};

struct RoundResult {
  Outcome outcome;
  std::vector<ProcessExit> exits;
  std::vector<int> survivors;      // pids that SIGKILL did not end
  bool user_is_impatient = false;  // an interrupt came when the end was decided already
  int ending_signal = 0;  // the first that asked this launcher to end; not always the cause
  std::optional<StartRefusal> refusal{};
  std::string launcher_failure{};  // not empty: an exception of its own, and it has to end
};

class Supervisor {
 public:
  // Whose processes they are.
  class Observer {
   public:
    // From now on no exception gets past a process that runs.
    virtual void on_watching() {}
    // The guard waits for another one that has not let go of a log.
    virtual void on_waiting_for_log(const std::string& /*line*/) {}
    // It has hung for 10 s; told once.
    virtual void on_hang(bool /*nothing_is_started*/) {}
    // The logs are open, and the first process is about to be started.
    virtual void on_logs_open(const OpenedLogs&) {}
    // All processes are that are not held back.
    virtual void on_started() {}
    // However it ended, and before anything follows from it. The process's index in the plan.
    virtual void on_exit(int /*process*/) {}
    // It exited with 0 before there was an outcome.
    virtual void on_good_exit(int /*process*/) {}
    // In jobs with servers alone: all workers of this pod have exited with 0; told once.
    virtual void on_workers_done() {}
    // At once, before anything is stopped; Completed: by job_completed().
    virtual void on_outcome(const Outcome& outcome, int others) = 0;
    virtual void on_second_interrupt() {}
    // Asked: whether the log of one that failed ends with the loss of a neighbour.
    virtual bool is_secondary(int /*process*/) { return false; }

   protected:
    ~Observer() = default;
  };

  Supervisor(EventLoop& loop, Guard& guard, Console& console, SignalWatch& signals,
             const Terminal& terminal, StopPolicy policy, Observer& observer);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // A child of the launcher that has nothing to do with this round.
  void spare(pid_t child) { spared_.push_back(child); }
  // Returns when the last process of this pod is gone. Where the launcher fails meanwhile, all are
  // stopped and waited for, no longer than `patience`.
  RoundResult run(std::chrono::milliseconds patience);

  // While it runs: another pod gave a reason to stop; somebody's user is impatient.
  void stop_because(const StopCause& cause);
  void kill_now();
  // In jobs with servers: those who were held back may start; all workers of the job have ended
  // well, and what is left may go.
  void start_rest();
  void job_completed() { carry_out(policy_.job_completed()); }

 private:
  // How far the guard is.
  enum class GuardPhase { Opening, Starting, Working, Killed };

  bool is_over() const { return guard_is_gone_ || (drained_ && !policy_.is_waiting()); }
  void see_out(const std::string& failure, std::chrono::milliseconds patience);
  void take_reports();
  void on_words(const Guard::Words& words);
  void note_opened();
  void tell_slow_start();
  void order_stop();
  void expect_answer(std::chrono::milliseconds patience);
  void kill_guard();
  void on_report(const GuardReport& report);
  void on_exit(const ProcessExit& exit);
  bool is_secondary(const ProcessExit& exit);
  void tell_outcome();
  void take_signals();
  void on_signal(int signal);
  void carry_out(StopPolicy::Order order);
  void begin_suspension();
  void suspend();
  void reap_strangers() const;
  void guard_is_gone(std::chrono::milliseconds patience);
  void keep_console_flowing();

  EventLoop& loop_;
  Guard& guard_;
  Console& console_;
  SignalWatch& signals_;
  const Terminal& terminal_;
  StopPolicy policy_;
  Observer& observer_;
  Alarm doubt_;  // whether a signal that ended a worker is meant for the whole job
  GuardPhase guard_phase_ = GuardPhase::Opening;
  Alarm slow_start_;
  Alarm answer_;  // the guard's, to an order to stop
  bool kill_ordered_ = false;
  OpenedLogs opened_;
  std::optional<StartRefusal> refusal_;
  std::deque<GuardReport> reports_;  // that came and were not taken yet
  std::vector<int> survivors_;
  std::vector<pid_t> spared_;
  bool console_watched_ = false;
  bool drained_ = false;
  bool guard_is_gone_ = false;
  bool suspending_ = false;
  bool workers_done_told_ = false;
  bool interrupted_after_verdict_ = false;
  int ending_signal_ = 0;
  std::string failure_;
};

}  // namespace paddle_launch
