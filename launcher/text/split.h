// SPDX-License-Identifier: Apache-2.0
// Takes a list apart.
#pragma once

#include <string_view>
#include <vector>

namespace paddle_launch {

// Parts may be empty ("a,,b" has three); an empty text has none. The parts look into the text.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace paddle_launch
