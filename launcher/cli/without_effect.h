// SPDX-License-Identifier: Apache-2.0
// Options that are accepted and do nothing here: no option is ignored without a word.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

std::vector<std::string> without_effect(const GivenOptions& given, const JobSpec& job);

}  // namespace paddle_launch
