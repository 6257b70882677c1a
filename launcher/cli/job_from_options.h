// SPDX-License-Identifier: Apache-2.0
// Turns accepted options into the job.
#pragma once

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Throws UsageError where two options contradict each other. JobSpec::arguments is left empty.
JobSpec job_from_options(const GivenOptions& given, const ModeChoice& mode, Script script);

}  // namespace paddle_launch
