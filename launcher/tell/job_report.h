// SPDX-License-Identifier: Apache-2.0
// How a job ended, for programs: the JSON object of --report. The manual page lists its keys.
#pragma once

#include <string>
#include <string_view>

#include "launcher/job/ending.h"

namespace paddle_launch {

// `restarts`: how often the job was started again.
std::string job_report(const JobVerdict& verdict, int status, int restarts);

// The launcher ended by itself, not with a verdict over a round.
std::string launch_report(std::string_view kind, int status, const std::string& text);

}  // namespace paddle_launch
