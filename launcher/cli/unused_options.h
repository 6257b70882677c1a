// SPDX-License-Identifier: Apache-2.0
// Options of Paddle's launcher that have no use here: refused for good, or accepted without effect.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Options of Paddle's launcher that this one will not have. Throws UsageError that names Paddle's
// own launcher as the tool for it.
void refuse_for_good(const GivenOptions& given);

// Options that are accepted and do nothing here: no option is ignored without a word.
std::vector<std::string> without_effect(const GivenOptions& given, const JobSpec& job);

}  // namespace paddle_launch
