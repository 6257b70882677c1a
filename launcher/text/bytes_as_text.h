// SPDX-License-Identifier: Apache-2.0
// Bytes as letters and digits, for variables, files and JSON, which hold text alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

// Two lower-case digits for each byte.
std::string in_hex(std::string_view bytes);

// None: not two digits for each byte.
std::optional<std::string> from_hex(std::string_view digits);

std::string to_base64(std::string_view bytes);
// Nothing: it is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace paddle_launch
