// SPDX-License-Identifier: Apache-2.0
// What tests of this room ask of a text.
#pragma once

#include <string>

namespace paddle_launch {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace paddle_launch
