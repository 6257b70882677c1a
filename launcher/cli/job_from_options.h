// SPDX-License-Identifier: Apache-2.0
// Turns accepted options into the job.
#pragma once

#include <optional>

#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// What was decided before: from the options, or from the variables of a platform.
struct JobFrame {
  Mode mode = Mode::Collective;
  std::optional<ServerSpec> servers{};
  std::optional<ElasticSpec> elastic{};
  bool started_together = false;
};

// Throws UsageError where two options contradict each other. JobSpec::arguments is left empty. env
// gives the secret of the job channel, nothing else.
JobSpec job_from_options(const GivenOptions& given, JobFrame frame, const Environment& env,
                         Script script);

}  // namespace paddle_launch
