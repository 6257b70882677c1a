// SPDX-License-Identifier: Apache-2.0
// Variables that count in elastic jobs alone, or in another spelling than the option has.
#pragma once

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"

namespace paddle_launch {

// After add_environment_defaults: an option and its own variable come first. Throws UsageError for
// a value that is refused.
void add_elastic_variables(const Environment& env, GivenOptions& given, Remarks& remarks);

}  // namespace paddle_launch
