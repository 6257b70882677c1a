// SPDX-License-Identifier: Apache-2.0
// Options that are accepted and do nothing here: no option is ignored without a word.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/given_options.h"

namespace paddle_launch {

std::vector<std::string> without_effect(const GivenOptions& given);

}  // namespace paddle_launch
