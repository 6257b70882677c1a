// SPDX-License-Identifier: Apache-2.0
// Reads a small file whole; for /proc and /sys, whose files have no size.
#pragma once

#include <optional>
#include <string>

namespace paddle_launch {

// None: it is not there or may not be read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace paddle_launch
