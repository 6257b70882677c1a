// SPDX-License-Identifier: Apache-2.0
// Turns accepted options into the job, and into the arguments that its banner shows.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// The arguments that the banner shows, as Paddle's own launcher would print them. The nine of the
// documents always, every other option when it was given; sorted by name.
std::vector<std::pair<std::string, std::string>> banner_arguments(const GivenOptions& given,
                                                                  const JobSpec& job);

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
