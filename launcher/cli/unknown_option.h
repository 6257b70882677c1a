// SPDX-License-Identifier: Apache-2.0
// What to tell someone who typed an option that does not exist.
#pragma once

#include <string>
#include <string_view>

namespace paddle_launch {

// Names the modern spelling, the options that begin like it, or the nearest one.
std::string unknown_option_text(std::string_view name);

}  // namespace paddle_launch
