// SPDX-License-Identifier: Apache-2.0
// The first words of a round: the arguments as they were understood, the environment of the first
// process of each role, and what there is to remark.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/steps/rounds.h"
#include "launcher/tell/voice.h"

namespace paddle_launch {

struct OpeningRemarks {
  std::vector<std::string> notices;
  std::vector<std::string> warnings;

  void add_warnings(const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
};

void open_the_console(const Voice& voice, const JobSpec& job, const Environment& user,
                      const PodPlan& plan, const OpeningRemarks& remarks, const Rounds& rounds);

}  // namespace paddle_launch
