// SPDX-License-Identifier: Apache-2.0
// Options of Paddle's launcher that this one will not have.
#pragma once

#include "launcher/cli/given_options.h"

namespace paddle_launch {

// Throws UsageError that names Paddle's own launcher as the tool for it.
void refuse_for_good(const GivenOptions& given);

}  // namespace paddle_launch
