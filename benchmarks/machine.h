// SPDX-License-Identifier: Apache-2.0
// Where the numbers come from, for the head of the report.
#pragma once

#include <string>

namespace paddle_launch {

// Cores, CPU model, memory, kernel, load and the file system of the scratch directories.
std::string describe_machine();

}  // namespace paddle_launch
