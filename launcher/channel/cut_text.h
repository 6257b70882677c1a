// SPDX-License-Identifier: Apache-2.0
// What is left of a text that is too long to be sent. Characters of UTF-8 stay whole.
#pragma once

#include <cstddef>
#include <string_view>

namespace paddle_launch {

std::string_view start_of_text(std::string_view text, std::size_t most);

// Begins with a whole line when one begins within reach.
std::string_view end_of_text(std::string_view text, std::size_t most);

}  // namespace paddle_launch
