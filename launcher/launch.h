// SPDX-License-Identifier: Apache-2.0
// The straight line: look around, meet, plan, run, tell.
#pragma once

#include "launcher/cli/command_line.h"
#include "launcher/job/ending.h"
#include "launcher/job/environment.h"

namespace paddle_launch {

struct LaunchEnd {
  int status = 0;        // of this launcher
  JobVerdict verdict{};  // over the last round; nothing where none was run
};

// Throws UsageError, LaunchError or std::system_error when nothing was started.
LaunchEnd launch(const ParsedCommandLine& command, const Environment& env);

}  // namespace paddle_launch
