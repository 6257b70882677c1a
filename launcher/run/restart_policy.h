// SPDX-License-Identifier: Apache-2.0
// Whether a job that stopped has another round, and who takes part in it. Pure: how the round
// stopped comes in; the next one comes out, or nothing: the job has ended.
#pragma once

#include <chrono>
#include <optional>

#include "launcher/job/ending.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct RestartRules {
  // What becomes of a lost node.
  enum class Nodes {
    Fixed,    // a scheduler's, or the only one: nobody starts its launcher again
    Typed,    // somebody may start its launcher again; not the hub's, which nobody could find
    Elastic,  // others take its place, or the job goes on with fewer
  };

  RestartSpec spec{};
  Nodes nodes = Nodes::Fixed;
  int level = 1;  // --elastic_level
};

// `others_may_come`: in the place of a pod that goes, between two rounds.
RestartRules rules_of(const JobSpec& job, bool others_may_come);

struct StoppedRound {
  RoundState state{};
  std::chrono::milliseconds lasted{0};
  int nodes = 1;  // launchers that took part
  bool hub_is_lost = false;
};

std::optional<NextRound> next_round(const RestartRules& rules, const StoppedRound& round,
                                    const JobVerdict& verdict);

// How a round ended for one launcher.
struct RoundEnd {
  int status = 0;
  std::optional<NextRound> next{};  // that this launcher takes part in
  bool is_asked_to_end = false;     // by a signal; the others are still to hear of it
  bool leaves = false;              // the job goes on without this launcher
  JobVerdict verdict{};             // of the last round
};

// What a launcher knows of itself when the verdict over the round is there.
struct OwnEnd {
  bool has_cause = false;   // the verdict is its pod's
  int ending_signal = 0;    // the first that asked it to end
  bool has_failed = false;  // by an exception of its own
};

RoundEnd end_of_round(const RestartRules& rules, const JobVerdict& verdict, const OwnEnd& own);

}  // namespace paddle_launch
