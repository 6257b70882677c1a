// SPDX-License-Identifier: Apache-2.0
// The lists of a job with parameter servers, as text: endpoints, numbers by stages, devices by
// stages.
#pragma once

#include <string_view>

#include "launcher/cli/value_rule.h"

namespace paddle_launch {

ValueReading read_endpoint_list(std::string_view text, EndpointList rule);
ValueReading read_stage_numbers(std::string_view text);
ValueReading read_stage_devices(std::string_view text);

}  // namespace paddle_launch
