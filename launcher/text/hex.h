// SPDX-License-Identifier: Apache-2.0
// Bytes as digits, for variables and files that hold text alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

// Two lower-case digits for each byte.
std::string in_hex(std::string_view bytes);

// None: not two digits for each byte.
std::optional<std::string> from_hex(std::string_view digits);

}  // namespace paddle_launch
