// SPDX-License-Identifier: Apache-2.0
// --status, --scale and --stop: what somebody outside wants of a running elastic job.
#pragma once

#include <string_view>

#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Null: none. Throws UsageError for two.
const GivenOption* asked_order(const GivenOptions& given);

// asked and given are what was typed. Throws UsageError for an order that lacks its job, and for
// options that have nothing to do with it.
JobOrder order_of_options(const GivenOption& asked, const Environment& env, GivenOptions given);

// Throws UsageError. --scale=0 asks for nothing: it is Paddle's default.
void refuse_order_with_script(const GivenOptions& given, std::string_view script);

}  // namespace paddle_launch
