// SPDX-License-Identifier: Apache-2.0
// Lists as text: one taken apart, and many numbers told in a few words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// Takes a list apart. Parts may be empty ("a,,b" has three); an empty text has none. The parts look
// into the text.
std::vector<std::string_view> split(std::string_view text, char separator);

// Many numbers in a short text: ranks, CPUs, ports. "0-2,5": ascending, neighbours joined. What is
// there twice is told twice.
std::string number_ranges(std::vector<int> numbers);

}  // namespace paddle_launch
