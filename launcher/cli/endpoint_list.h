// SPDX-License-Identifier: Apache-2.0
// The lists of a job with parameter servers, as text: endpoints, numbers by stages, devices by
// stages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/value_rule.h"

namespace paddle_launch {

using Stages = std::vector<std::vector<std::string>>;

ValueReading read_endpoint_list(std::string_view text, EndpointList rule);
ValueReading read_stage_numbers(std::string_view text);
ValueReading read_stage_devices(std::string_view text);

// The values of readings that were accepted, taken apart.
Stages stages_of_endpoints(std::string_view list);
std::vector<int> stages_of_numbers(std::string_view list);
std::vector<std::string> stages_of_devices(std::string_view list);

}  // namespace paddle_launch
