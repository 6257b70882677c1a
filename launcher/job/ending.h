// SPDX-License-Identifier: Apache-2.0
// How the whole job ends: why it stops, what each pod says when its processes are gone, and the
// verdict that all launchers share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/failure.h"
#include "launcher/job/role.h"
#include "launcher/job/round_state.h"
#include "launcher/job/stop_cause.h"

namespace paddle_launch {

// One pod's account, given when its last process is gone.
struct PodEnding {
  StopCause own{};  // Completed: nothing went wrong here by itself
  // Those who failed by themselves, in the order of their deaths, the cause first. Only the first
  // carries the end of its log.
  std::vector<FailureRecord> failures{};
  std::vector<ProcessName> stopped{};  // those who were told to stop and had not failed
  // A process of this pod whose log ends with an error of its own, not with the complaint of a lost
  // neighbour, whether it died by itself or was stopped.
  std::optional<Suspicion> confession{};
  bool first_is_echo = false;   // the first failure's log only complains of a lost neighbour
  bool all_are_echoes = false;  // so do those of all failures here
  // Its launcher was, by a signal, or by a failure of its own; not always the first reason.
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
  std::optional<Suspicion> suspicion{};
  std::vector<std::string> silent{};  // nodes that did not tell how they ended
  int asked_to_end = 0;               // so many launchers were
  std::optional<NextRound> next{};    // the job goes on with it

  bool operator==(const JobVerdict&) const = default;
};

}  // namespace paddle_launch
