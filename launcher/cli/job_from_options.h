// SPDX-License-Identifier: Apache-2.0
// Turns accepted options into the job.
#pragma once

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Throws UsageError where two options contradict each other. JobSpec::arguments is left empty. env
// gives the secret of the job channel, nothing else.
JobSpec job_from_options(const GivenOptions& given, const ModeChoice& mode, const Environment& env,
                         Script script, bool started_together);

}  // namespace paddle_launch
