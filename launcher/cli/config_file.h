// SPDX-License-Identifier: Apache-2.0
// --config FILE: options with their values in TOML or INI, as CLI11 reads it.
#pragma once

#include "launcher/cli/given_options.h"

namespace paddle_launch {

// Adds what the file says of options that were not typed. Throws UsageError for a file that cannot
// be read, and for what is no option in it.
void add_config_file(GivenOptions& given);

}  // namespace paddle_launch
