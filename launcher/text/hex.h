// SPDX-License-Identifier: Apache-2.0
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
