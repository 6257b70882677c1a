// SPDX-License-Identifier: Apache-2.0
// The lines that the launcher itself writes into a worker's log: one at the start, since logs
// append, and one at the end of a worker that was stopped.
#pragma once

#include <string>

#include "launcher/job/plan.h"

namespace paddle_launch {

// Every such line begins with this.
constexpr const char* kLogLineMark = "==== paddle-launch ";

std::string log_start_line(const ProcessPlan& plan, const ProcessSpec& spec,
                           const std::string& when);
std::string log_stop_line(const ProcessSpec& spec, const std::string& because,
                          const std::string& when);

// The command as one could type it again.
std::string shell_quoted(const std::vector<std::string>& argv);

}  // namespace paddle_launch
