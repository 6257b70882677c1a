// SPDX-License-Identifier: Apache-2.0
// The arguments that the banner shows, as Paddle's own launcher would print them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// The nine of the documents always, every other option when it was given; sorted by name.
std::vector<std::pair<std::string, std::string>> banner_arguments(const GivenOptions& given,
                                                                  const JobSpec& job);

}  // namespace paddle_launch
