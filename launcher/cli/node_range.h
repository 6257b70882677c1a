// SPDX-License-Identifier: Apache-2.0
// The number of nodes as options have it: "4" or "2:4".
#pragma once

#include <string_view>

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// `value` is one that the rule NodeCount has accepted.
NodeRange node_range_in(std::string_view value);

// Of --nnodes; 1 without it. For jobs that are not elastic: a range has two equal ends there.
int number_of_nodes(const GivenOptions& given);

}  // namespace paddle_launch
