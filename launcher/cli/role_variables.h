// SPDX-License-Identifier: Apache-2.0
// Jobs with parameter servers whose launchers are told their role by variables: PaddleCloud's
// (TRAINING_ROLE) and those of Paddle's first cluster documents (PADDLE_TRAINING_ROLE).
#pragma once

#include <optional>

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// None: no such variables, or an option decides the mode, and then a notice tells of them. Drops
// variables of the nodes that do not count, with a warning. Throws UsageError where the variables
// do not make a role.
std::optional<ServerSpec> servers_of_variables(const ModeChoice& mode, const Environment& env,
                                               GivenOptions& given, Remarks& remarks);

}  // namespace paddle_launch
