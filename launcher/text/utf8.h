// SPDX-License-Identifier: Apache-2.0
// UTF-8, read as strictly as its standard has it.
#pragma once

#include <cstddef>
#include <string_view>

namespace paddle_launch {

struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  // bytes; 0: not UTF-8
};

// What a text that is not empty begins with. Overlong forms, surrogates and halves of a character
// are none.
Utf8Character first_utf8_character(std::string_view text);

}  // namespace paddle_launch
