// SPDX-License-Identifier: Apache-2.0
// For a terminal or pipe that may not take anything, and that must not hold us up.
#pragma once

#include <chrono>
#include <string_view>

namespace paddle_launch {

// As much of the text as stderr takes, waiting no longer than this for each piece. SIGPIPE must be
// blocked or ignored.
void write_to_stderr_patiently(std::string_view text, std::chrono::milliseconds patience);

}  // namespace paddle_launch
