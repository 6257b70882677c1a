// SPDX-License-Identifier: Apache-2.0
// Reads the launcher's own part of the command line (CLI11 lives here).
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/given_options.h"

namespace paddle_launch {

// own is CutCommandLine::own. Throws UsageError for a value that is refused, and for two spellings
// of one option; an option given twice counts as it was given last, with a warning.
GivenOptions read_typed_options(const std::vector<std::string>& own,
                                std::vector<std::string>& warnings);

}  // namespace paddle_launch
