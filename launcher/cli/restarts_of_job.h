// SPDX-License-Identifier: Apache-2.0
// How often and after what the options want a failed job to be started again.
#pragma once

#include <optional>
#include <string_view>

#include "launcher/cli/given_options.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// --restart_on as text: "code,SIGKILL,lost_node".

// The words that stand for many causes.
inline constexpr std::string_view kAnyCause = "any";
inline constexpr std::string_view kAnyCode = "code";
inline constexpr std::string_view kAnySignal = "signal";
inline constexpr std::string_view kLostNode = "lost_node";
inline constexpr std::string_view kWholeCauses[] = {kAnyCause, kAnyCode, kAnySignal, kLostNode};

ValueReading read_restart_causes(std::string_view text);

RestartSpec restarts_of_job(const GivenOptions& given, const std::optional<ElasticSpec>& elastic);

}  // namespace paddle_launch
