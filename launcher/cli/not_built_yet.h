// SPDX-License-Identifier: Apache-2.0
// What the command line understands and this version cannot do yet. Whoever builds a piece deletes
// its part here; when nothing is left, the file goes.
#pragma once

#include <string_view>

#include "launcher/cli/given_options.h"

namespace paddle_launch {

inline constexpr std::string_view kNotBuiltYetHelp =
    "Elastic jobs and restarts are not built yet in this version: their options are checked and "
    "then refused with exit status 2.";

// Throws UsageError.
void refuse_not_built_yet(const GivenOptions& given);

}  // namespace paddle_launch
