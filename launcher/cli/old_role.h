// SPDX-License-Identifier: Apache-2.0
// The variables of Paddle's first cluster documents, which give each launcher one process of a job
// with parameter servers.
#pragma once

#include <string>

#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// PaddleCloud sets PADDLE_TRAINING_ROLE in its collective jobs too, along with variables of its
// own.
bool has_old_role(const Environment& env);

// Those two that show that such a job is meant, as far as they are set: "A and B".
std::string old_variables_in(const Environment& env);

// Throws UsageError for a variable that is missing or contradicts another one or a typed option.
ServerSpec servers_of_old_role(const Environment& env, const GivenOptions& given);

}  // namespace paddle_launch
