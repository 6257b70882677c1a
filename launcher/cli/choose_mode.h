// SPDX-License-Identifier: Apache-2.0
// Which mode the options mean, decided from what was parsed and never from a search in argv.
#pragma once

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct ModeChoice {
  Mode mode = Mode::Collective;
  const GivenOption* because = nullptr;  // the option that decided; none: the default
};

bool has_servers(Mode mode);

// Throws UsageError for options of two modes; the text names both.
ModeChoice choose_mode(const GivenOptions& given);

}  // namespace paddle_launch
