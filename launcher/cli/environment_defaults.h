// SPDX-License-Identifier: Apache-2.0
// Environment variables as defaults of options: an option beats its variable, which beats the
// default. (In Paddle the variable wins.)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"

namespace paddle_launch {

// Started by a trainer of another paddle-launch, whose variables describe that job, not this one.
bool is_nested(const Environment& env);

// An empty variable counts as unset.
std::optional<std::string> non_empty(const Environment& env, std::string_view name);

// The job channel's secret. It is no option's default: these are shown in the banner.
inline constexpr std::string_view kTokenVariable = "PADDLE_LAUNCH_TOKEN";

// A variable of the option that is there. Warns when something else comes first and differs. Throws
// UsageError when it counts and its value is refused.
void add_variable(const Option& option, std::string_view variable, const std::string& value,
                  GivenOptions& given, Remarks& remarks);

// Throws UsageError for a variable that counts and whose value is refused.
void add_environment_defaults(const Environment& env, GivenOptions& given, Remarks& remarks);

}  // namespace paddle_launch
