// SPDX-License-Identifier: Apache-2.0
// Many numbers in a short text: ranks, CPUs, ports.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

// "0-2,5": ascending, neighbours joined. What is there twice is told twice.
std::string number_ranges(std::vector<int> numbers);

}  // namespace paddle_launch
