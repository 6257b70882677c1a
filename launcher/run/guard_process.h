// SPDX-License-Identifier: Apache-2.0
// Inside the guard: parent and reaper of the trainers. Its one promise is that when run() returns,
// wait() has said that no child is left: not the trainers, not what they started, wherever it hid.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/job/plan.h"
#include "launcher/os/frames.h"
#include "launcher/os/unique_fd.h"
#include "launcher/run/guard.h"
#include "launcher/run/guard_logs.h"
#include "launcher/run/start_process.h"

namespace paddle_launch {

class GuardProcess final : OpeningGuard {
 public:
  GuardProcess(const ProcessPlan& plan, const GuardSettings& settings, FramePipe orders,
               UniqueFd launcher);
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    pid_t pid = -1;  // -1: not running
    bool told_to_stop = false;
    bool may_answer = true;         // that it ends may be its answer to our SIGTERM
    std::int64_t log_at_stop = -1;  // so many bytes were in its log
    bool suspended = false;
    Clock::time_point started;
  };
  enum class Phase { Running, Stopping, Killing };

  void leave_the_launchers_world();
  void keep_the_consoles_descriptors();
  void open_for_workers();
  void say(GuardReport::Kind kind, const std::string& text) override;
  bool goes_on(std::chrono::milliseconds patience) override;
  void start_first();
  void start_rest();
  void start_workers(std::size_t first, std::size_t end);
  bool start_worker(std::size_t index, const std::vector<std::string>& shared_env);
  StartResult start(std::size_t index, const StartRequest& request) const;
  void report(const GuardReport& report) { orders_.add(guard_frame(report)); }
  void report_not_started(std::size_t index, int error, bool exec);

  bool reap();
  void note(const siginfo_t& info);
  bool ended_by_itself(const Worker& worker, const siginfo_t& info) const;
  void note_exit(std::size_t index, const siginfo_t& info);
  void note_stop(std::size_t index, const siginfo_t& info);

  std::vector<GuardOrder> receive_orders();
  void obey(const GuardOrder& order);
  void stop();
  void freeze() const;
  void thaw();
  void tell_orphans();
  void kill_all();
  void give_up_on_survivors();

  int poll_timeout() const;
  void wait_for_something();
  void send_reports();
  // Having no child is not the end then.
  bool rest_waits() const { return rest_held_back_ && phase_ == Phase::Running; }
  bool any_worker_alive() const;
  bool all_suspended() const;
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  std::size_t worker_of(pid_t pid) const;

  const ProcessPlan& plan_;
  const GuardSettings& settings_;
  FramePipe orders_;   // and reports
  UniqueFd launcher_;  // a pidfd; none where the kernel has none
  GuardLogs logs_;
  UniqueFd children_;  // signalfd for SIGCHLD
  UniqueFd null_;      // to read from
  // For processes without a log, until the last is started.
  UniqueFd console_output_;
  UniqueFd console_errors_;
  std::vector<GuardOrder> early_orders_;  // came before the first process was started
  std::vector<Worker> workers_;
  std::vector<pid_t> told_orphans_;
  Phase phase_ = Phase::Running;
  Clock::time_point deadline_{};  // end of the grace, later of our patience with SIGKILL
  bool launcher_alive_ = true;
  bool grace_renewed_ = false;
  bool rest_held_back_ = false;
  bool freezing_ = false;  // Frozen is owed to the launcher, at this time at the latest
  Clock::time_point freezing_until_{};
  bool frozen_ = false;  // from Freeze to Thaw
};

}  // namespace paddle_launch
