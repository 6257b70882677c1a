// SPDX-License-Identifier: Apache-2.0
// How processes, pods and the whole job end, from one process's exit to the verdict that all
// launchers share, and what comes after it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/job/role.h"

namespace paddle_launch {

using SteadyTime = std::chrono::steady_clock::time_point;

// Why the job stops, as every node learns it. The first one in time is the verdict.
struct StopCause {
  enum class Kind {
    Completed,
    WorkerFailed,
    NotStarted,
    Interrupted,
    GuardLost,
    PodLost,
    NodesChange,  // of an elastic job: the next round has other nodes
    StoppedFromOutside,
    LauncherFailed,  // a bug of its own, while trainers ran
  };

  Kind kind = Kind::Completed;
  int node = 0;        // the pod's place in the roster
  int status = 0;      // what every launcher of the job exits with
  std::string text{};  // one line: "rank 5 on 192.168.0.2 failed: exit code 7"
  SteadyTime at{};     // on the clock of whoever holds this value

  bool operator==(const StopCause&) const = default;
};

// How a process ended and how a round ended. Values: what a person reads about them is in tell/.
struct ProcessExit {
  int worker = 0;  // index into ProcessPlan::processes
  int pid = 0;
  int code = 0;    // exit code, when signal is 0
  int signal = 0;  // the signal that ended it
  bool core_dumped = false;
  // The launcher's SIGTERM or SIGKILL came before its end and can be the cause of it, or the
  // process only complained of a process that was lost.
  bool was_told_to_stop = false;
  bool had_failed = false;        // its log has an error of its own from before it was told
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

// A worker's failure with all that a person on any node needs to know of it.

// In place of a number of OOM kills: the kernel does not tell.
constexpr long kOomKillsUnknown = -1;

struct FailureRecord {
  ProcessExit exit{};  // its times are of the steady clock of its own node
  Role role = Role::Trainer;
  int rank = 0;  // of a trainer; of others the place in the list of their role
  int local_rank = 0;
  std::string node{};   // host name and, where it differs, the address in the endpoints
  std::string cards{};  // "card 3" or "CPU"
  std::string when{};   // local time on its node
  std::string log_path{};
  std::string log_excerpt{};  // empty: nothing was written
  std::string error{};        // what failed alike has the same one; empty: nothing is known of it
  bool log_readable = true;
  long oom_kills = kOomKillsUnknown;  // on its node, during the run

  ProcessName name() const { return {role, rank}; }
  bool operator==(const FailureRecord&) const = default;
};

// A process that was stopped, or died after the first, although its log says that it began.
struct RootCauseHint {
  Role role = Role::Trainer;
  int rank = 0;
  std::string node{};
  std::string log_path{};
  std::string log_excerpt{};

  ProcessName name() const { return {role, rank}; }
  bool operator==(const RootCauseHint&) const = default;
};

// Where a job of several rounds stands. Every pod knows it, so that any of them can go on when the
// one that held the job together is lost.
struct RoundState {
  int number = 0;          // of the round, from 0
  int restarts = 0;        // used up so far
  int quick_failures = 0;  // in a row: rounds that failed soon after their start

  bool operator==(const RoundState&) const = default;
};

struct NextRound {
  RoundState state{};
  std::chrono::milliseconds pause{0};  // before it begins
  bool has_settled = false;            // its nodes were known before the last round was stopped

  bool operator==(const NextRound&) const = default;
};

// One pod's account, given when its last process is gone.
struct PodEnding {
  StopCause own{};  // Completed: nothing went wrong here by itself
  // Those who failed by themselves, in the order of their deaths, the cause first. Only the first
  // carries the end of its log.
  std::vector<FailureRecord> failures{};
  std::vector<ProcessName> stopped{};  // those who were told to stop and had not failed
  // A process of this pod whose log ends with an error of its own, not with the complaint of a lost
  // neighbour, whether it died by itself or was stopped.
  std::optional<RootCauseHint> own_error{};
  bool first_is_secondary = false;  // the first failure's log ends with the loss of a neighbour
  bool all_are_secondary = false;   // so do those of all failures here
  // A signal, or a failure of its own, asked the launcher of this pod to end; it need not be the
  // first cause of the job's end.
  bool asked_to_end = false;

  bool operator==(const PodEnding&) const = default;
};

struct JobVerdict {
  StopCause first{};
  std::string doubt{};  // not empty: why "first" is not certain
  // Those of the ABORT line, with the role that it speaks of first; none: no such line.
  std::vector<ProcessName> aborted{};
  std::vector<ProcessName> same{};        // those who failed with the same error as the first
  std::vector<ProcessName> stopped{};     // because of it
  std::vector<FailureRecord> failures{};  // of the whole job, the first cause first
  std::optional<RootCauseHint> hint{};
  std::vector<std::string> silent{};  // nodes that did not tell how they ended
  int asked_to_end = 0;               // pods with PodEnding::asked_to_end
  std::optional<NextRound> next{};    // the job goes on with it

  bool operator==(const JobVerdict&) const = default;
};

}  // namespace paddle_launch
