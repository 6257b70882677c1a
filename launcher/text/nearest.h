// SPDX-License-Identifier: Apache-2.0
// Finds what somebody who mistyped a word most likely meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The nearest of the known words, the first one among equals; none when nothing is near enough to
// be a slip of the finger.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace paddle_launch
