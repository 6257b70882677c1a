// SPDX-License-Identifier: Apache-2.0
// How often and after what the options want a failed job to be started again.
#pragma once

#include <optional>

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

RestartSpec restarts_of_job(const GivenOptions& given, const std::optional<ElasticSpec>& elastic);

}  // namespace paddle_launch
