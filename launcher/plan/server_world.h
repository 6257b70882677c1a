// SPDX-License-Identifier: Apache-2.0
// The lists of a job with parameter servers, from the roster.
#pragma once

#include <optional>

#include "launcher/job/plan.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// `http_port`: of Gloo's meeting point; none: the first pod's choice. Throws LaunchError where the
// pods together leave a place of a list empty, or fill one twice.
ServerWorld plan_server_world(const Roster& roster, std::optional<int> http_port);

}  // namespace paddle_launch
