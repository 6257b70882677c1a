// SPDX-License-Identifier: Apache-2.0
// Numbers as people type them: decimal digits only, the whole text or nothing.
#pragma once

#include <optional>
#include <string_view>

namespace paddle_launch {

// "8", "-1"; no blanks, no plus, no exponent.
std::optional<long long> parse_whole_number(std::string_view text);

// "10", "0.5", ".25" as thousandths; digits after the third are cut off. Nothing negative.
std::optional<long long> parse_thousandths(std::string_view text);

}  // namespace paddle_launch
