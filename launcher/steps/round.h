// SPDX-License-Identifier: Apache-2.0
// One round, from the prepared log directory to the last word on the console.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/session.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/plan.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/inherited.h"
#include "launcher/os/signals.h"
#include "launcher/site/machine.h"
#include "launcher/steps/rounds.h"

namespace paddle_launch {

// What this pod brought along from the meeting.
struct JobTies {
  EventLoop& loop;
  SignalWatch& signals;
  const Inherited& inherited;
  Session& channel;
  int node = 0;                            // its place in the roster
  bool speaks = true;                      // false: another pod has the console that they share
  bool scheduler_signals_workers = false;  // as Slurm does
  Rounds& rounds;
  std::chrono::milliseconds grace{0};
};

struct OpeningRemarks {
  std::vector<std::string> notices;
  std::vector<std::string> warnings;

  void add_warnings(const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
};

struct RoundEnd {
  int status = 0;
  std::optional<NextRound> next{};  // that this launcher takes part in
  bool is_asked_to_end = false;     // by a signal; the others are still to hear of it
  bool leaves = false;              // the job goes on without this launcher
  JobVerdict verdict{};             // of the last round
};

RoundEnd run_round(const JobTies& ties, const JobSpec& job, const Environment& env,
                   const Machine& here, const PodPlan& plan, const OpeningRemarks& remarks);

}  // namespace paddle_launch
