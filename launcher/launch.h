// SPDX-License-Identifier: Apache-2.0
// The straight line: look around, meet, plan, run, tell.
#pragma once

#include "launcher/cli/command_line.h"
#include "launcher/job/environment.h"

namespace paddle_launch {

// Returns the exit status. Throws UsageError, LaunchError or std::system_error when nothing was
// started.
int launch(const ParsedCommandLine& command, const Environment& env);

}  // namespace paddle_launch
