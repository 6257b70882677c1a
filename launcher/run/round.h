// SPDX-License-Identifier: Apache-2.0
// One round of this pod: from its plan to the end of its last process, the verdict over the whole
// job, and what comes after it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/ending.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"
#include "launcher/run/conductor.h"
#include "launcher/run/console.h"
#include "launcher/run/gpu_log.h"
#include "launcher/run/guard.h"
#include "launcher/run/post_mortem.h"
#include "launcher/run/restart_policy.h"
#include "launcher/run/stop_policy.h"
#include "launcher/run/store_relay.h"
#include "launcher/run/supervisor.h"
#include "launcher/run/terminal.h"
#include "launcher/tell/rounds_table.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

// What is the same in every round of a launcher.
struct RoundSettings {
  EventLoop& loop;
  SignalWatch& signals;
  const Inherited& inherited;
  const JobSpec& job;
  const Environment& env;
  std::string host_name;
  bool speaks = true;                      // false: another pod has the console that they share
  bool scheduler_signals_workers = false;  // as Slurm does
  RoundWatch* watch = nullptr;             // of an elastic job
};

// The rounds of a job as this launcher saw them, and the rule by which there may be another.
struct History {
  RestartRules rules{};
  bool may_be_several = false;
  RoundState state{};              // of the round that runs
  std::vector<ToldRound> told{};   // those that have ended, by add_round()
  std::set<std::string> warned{};  // what was warned of
  bool told_of_console = false;    // that nobody reads it
};

// What the launcher has to say when the processes of a round start.
struct OpeningRemarks {
  std::vector<std::string> notices;
  std::vector<std::string> warnings;

  void add_warnings(const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
};

class Round final : public RoundEvents,
                    public RoundWatch::Listener,
                    public Supervisor::Observer,
                    public Conductor::Observer {
 public:
  // `node`: this pod's place in the roster. All but the settings' values outlive the round.
  Round(const RoundSettings& settings, Session& session, int node, const PodPlan& plan,
        History& history);
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  // What fails here, and is no failure of a trainer, is told to the others before it is thrown.
  RoundEnd run(OpeningRemarks remarks);

 private:
  enum class Phase { Starting, Running, Stopping, Concluding, Over };

  void run_hook();
  void start();
  void watch_processes();
  void conclude();
  void wait_for_others(const PodEnding& mine);
  void decide_alone(PodEnding mine);
  RoundEnd end();
  void say_what_comes(const RoundEnd& end) const;
  void drain_console(std::optional<std::chrono::milliseconds> patience);
  void report(const RoundEnd& end) const;
  void withdraw(const std::string& what, int status);
  void withdraw(const Outcome& because);
  void let_go();

  void attend();
  // While the other pods are waited for.
  void take_signals();
  void on_signal(int signal);
  void on_interrupt(int signal);
  void begin_patience();

  // RoundEvents: what the other pods say
  void on_stop(const StopCause& cause) override;
  void on_kill() override;
  void on_verdict(const JobVerdict& verdict) override { verdict_ = verdict; }
  void on_remark(const std::string& line) override { voice_.info(line); }
  void on_message(int node, const Message& message) override;
  std::optional<NextRound> next_round(const JobVerdict& verdict, bool hub_is_lost) override;
  std::optional<RefusalMessage> on_newcomer(const OfferMessage& offer) override;

  // RoundWatch::Listener
  void on_reason_to_stop(const StopCause& cause) override;
  void on_warning(const std::string& line) override { voice_.warning(line); }

  // Supervisor::Observer
  void on_watching() override;
  void on_waiting_for_log(const std::string& line) override { voice_.info(line); }
  void on_hang(bool nothing_is_started) override;
  void on_logs_open(const OpenedLogs& logs) override;
  void on_started() override;
  void on_exit(int process) override;
  void on_good_exit(int process) override;
  void on_workers_done() override;
  void on_outcome(const Outcome& outcome, int others) override;
  void on_second_interrupt() override;
  bool is_secondary(int process) override { return post_mortem_->lost_a_neighbour(process); }

  // Conductor::Observer
  void start_workers() override;
  void stop_servers() override;
  void on_progress(const std::string& line) override { voice_.info(line); }

  bool speaks_for_lost_hub(const Outcome& outcome) const;
  std::chrono::milliseconds longest() const;
  std::optional<std::chrono::milliseconds> patience_with_console() const;

  RoundSettings settings_;
  Session& session_;
  int node_;
  const PodPlan& plan_;
  History& history_;
  const SteadyTime begun_ = std::chrono::steady_clock::now();
  SteadyTime started_ = begun_;  // behind the user's hook
  Phase phase_ = Phase::Starting;
  bool speaks_;
  OpeningRemarks remarks_;
  Voice voice_;
  std::optional<int> reader_;  // the process that has stdin
  Terminal terminal_;

  std::optional<Console> console_;
  std::unique_ptr<StoreRelay> store_relay_;  // where rank 0 is
  std::optional<Guard> guard_;
  std::optional<GpuLog> gpu_log_;  // while processes run
  std::optional<PostMortem> post_mortem_;
  std::optional<Conductor> conductor_;    // in a job with parameter servers
  std::optional<Supervisor> supervisor_;  // while processes run

  RoundResult result_{};
  std::optional<StopCause> cause_;  // this pod's own, made once, when it stops
  int ending_signal_ = 0;           // the first that asked this launcher to end
  StopPolicy interrupts_{0};        // while the others are waited for
  bool has_killed_ = false;         // by such an interrupt
  Alarm slow_;
  Alarm deadline_;                     // for the others
  std::optional<JobVerdict> verdict_;  // may come before our own processes are gone
};

}  // namespace paddle_launch
