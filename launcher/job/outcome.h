// SPDX-License-Identifier: Apache-2.0
// How a process ended and how a round ended. Values: what a person reads about them is in tell/.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "launcher/job/stop_cause.h"

namespace paddle_launch {

struct ProcessExit {
  int worker = 0;  // index into ProcessPlan::processes
  int pid = 0;
  int code = 0;    // exit code, when signal is 0
  int signal = 0;  // the signal that ended it
  bool core_dumped = false;
  // Our SIGTERM or SIGKILL was sent before it ended, and can be why it did; or it only lost a
  // neighbour.
  bool was_told_to_stop = false;
  bool had_failed = false;        // all the same: its log has an error of its own from before that
  std::int64_t log_at_stop = -1;  // bytes in its log at that moment, on its own node; -1: unknown
  SteadyTime started{};
  SteadyTime ended{};

  bool failed() const { return code != 0 || signal != 0; }
  bool failed_by_itself() const { return failed() && !was_stopped(); }
  bool was_stopped() const { return was_told_to_stop && !had_failed; }
  bool operator==(const ProcessExit&) const = default;
};

struct Completed {
  bool operator==(const Completed&) const = default;
};

struct Failed {
  ProcessExit first{};  // the cause; those who failed after it are among the round's exits
  bool operator==(const Failed&) const = default;
};

// A process could not be started at all.
struct NotStarted {
  enum class Step { Fork, Execute };

  int worker = 0;
  int error = 0;  // errno
  Step step = Step::Fork;
  bool operator==(const NotStarted&) const = default;
};

struct Interrupted {
  int signal = 0;
  bool operator==(const Interrupted&) const = default;
};

// The guard died under us; everything was killed.
struct GuardLost {
  bool operator==(const GuardLost&) const = default;
};

// An exception in the launcher itself, while its trainers ran.
struct LauncherFailed {
  std::string what{};
  bool operator==(const LauncherFailed&) const = default;
};

// Another pod gave the reason.
struct JobStopped {
  StopCause cause{};
  bool operator==(const JobStopped&) const = default;
};

using Outcome =
    std::variant<Completed, Failed, NotStarted, Interrupted, GuardLost, LauncherFailed, JobStopped>;

// 0 all completed · N the failing worker's own code · 128+S it or the launcher was ended by signal
// S · 126/127 not executable · 1 launch error · 75 a node was lost.
int exit_status(const Outcome& outcome);

}  // namespace paddle_launch
