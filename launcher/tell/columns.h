// SPDX-License-Identifier: Apache-2.0
// How much room a text takes on a terminal. For text that printable() has been through.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// Chinese, Japanese and Korean characters and emoji take two.
std::size_t columns(std::string_view text);

// The text with "…" for an end that does not fit.
std::string cut_to_columns(std::string_view text, std::size_t most);

// Filled up with spaces.
std::string padded(std::string_view text, std::size_t width);

// A line for each row, two spaces between its cells; the last cell is not filled up.
std::string in_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace paddle_launch
