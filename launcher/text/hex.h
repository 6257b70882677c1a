// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace paddle_launch {

// Two lower-case digits for each byte.
std::string in_hex(std::string_view bytes);

}  // namespace paddle_launch
