// SPDX-License-Identifier: Apache-2.0
// Whether a job that stopped has another round, pure: how it stopped comes in, the next round comes
// out, or nothing: the job has ended.
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

struct StoppedRound {
  RoundState state{};
  std::chrono::milliseconds lasted{0};
  int nodes = 1;  // launchers that took part
  bool hub_is_lost = false;
};

std::optional<NextRound> next_round(const RestartRules& rules, const StoppedRound& round,
                                    const JobVerdict& verdict);

// Of an elastic job that goes on: whether the pod whose trainer or launcher failed stays behind.
bool leaves_after_failure(const RestartRules& rules, const JobVerdict& verdict);

}  // namespace paddle_launch
