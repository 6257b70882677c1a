// SPDX-License-Identifier: Apache-2.0
// The guard before its first act: everything that a dead disk may hold up, which is the logs and
// the other files of a round. The launcher waits for it in its loop, and no process is there yet
// that somebody would have to stop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/plan.h"
#include "launcher/os/unique_fd.h"
#include "launcher/run/guard.h"

namespace paddle_launch {

// What the guard does while its logs are opened.
class OpeningGuard {
 public:
  virtual void say(GuardReport::Kind kind, const std::string& text) = 0;
  // Takes orders for so long. False: the round ends before it has begun.
  virtual bool goes_on(std::chrono::milliseconds patience) = 0;

 protected:
  ~OpeningGuard() = default;
};

class GuardLogs {
 public:
  GuardLogs(const ProcessPlan& plan, const GuardSettings& settings, OpeningGuard& guard)
      : plan_(plan), settings_(settings), guard_(guard) {}

  // Makes the directory, opens, locks and empties the logs, and writes the files. False: the guard
  // was told to stop meanwhile. Throws UsageError for a log that another job has, and whatever
  // std::exception for a machine that refuses.
  bool open();

  // None: this worker writes to the console.
  const UniqueFd& of(std::size_t worker) const { return logs_[worker]; }
  // Where this run begins, in bytes.
  std::int64_t begins_at(std::size_t worker) const;
  void write_start_line(std::size_t worker) const;

 private:
  using Clock = std::chrono::steady_clock;

  void lock();
  void wait_for_holder(std::size_t index);
  void empty() const;
  void write_files();

  const ProcessPlan& plan_;
  const GuardSettings& settings_;
  OpeningGuard& guard_;
  // Of each worker, to the end: closing one gives its lock back.
  std::vector<UniqueFd> logs_;
  std::optional<Clock::time_point> logs_free_until_{};  // how long others may take to let go
  bool shares_logs_ = false;                            // and says so once
  bool goes_on_ = true;
};

}  // namespace paddle_launch
