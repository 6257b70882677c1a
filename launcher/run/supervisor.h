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

struct SupervisorNews {
  std::function<void(const Outcome& verdict, int others)>
      verdict;  // at once, before anything is stopped; Completed: by job_completed()
  std::function<void()> second_interrupt;
  // The logs are open, and the first process is about to be started.
  std::function<void(const OpenedLogs&)> opened{};
  // All processes are that are not held back.
  std::function<void()> started{};
  // The guard waits for another one that has not let go of a log.
  std::function<void(const std::string& line)> waits_for{};
  // It has hung for 10 s; told once.
  std::function<void(bool nothing_is_started)> hangs{};
  // In jobs with servers alone: all workers of this pod have exited with 0; told once.
  std::function<void()> workers_done{};
  // A process exited with 0 before there was a verdict; its index in the plan.
  std::function<void(int process)> ended_well{};
  // Whether the last words of one that failed are of a neighbour that it lost.
  std::function<bool(int process)> is_secondary{};
  // However it ended, and before anything follows from it.
  std::function<void(int process)> ended{};
};

class Supervisor {
 public:
  Supervisor(EventLoop& loop, Guard& guard, Console& console, SignalWatch& signals,
             const Terminal& terminal, StopPolicy policy, SupervisorNews news);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // A child of the launcher that has nothing to do with this round.
  void spare(pid_t child) { spared_.push_back(child); }
  // Begins with `begin`, and returns when the last process of this pod is gone. No exception gets
  // past a process that runs: all are stopped and waited for, no longer than `patience`.
  RoundResult run(const std::function<void()>& begin, std::chrono::milliseconds patience);

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
  void take(const Guard::Words& words);
  void note_opened();
  void tell_slow_start() const;
  void order_stop();
  void expect_answer(std::chrono::milliseconds patience);
  void kill_guard();
  void take(const GuardReport& report);
  void take_exit(const ProcessExit& exit);
  bool is_secondary(const ProcessExit& exit) const;
  void tell_verdict() const;
  void take_signals();
  void take(int signal);
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
  SupervisorNews news_;
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
