// SPDX-License-Identifier: Apache-2.0
// UTF-8: read as strictly as its standard has it, made fit for a terminal, and cut where a text is
// too long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddle_launch {

struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  // bytes; 0: not UTF-8
};

// What a text that is not empty begins with. Overlong forms, surrogates and halves of a character
// are none.
Utf8Character first_utf8_character(std::string_view text);

// Foreign bytes made fit for a terminal. Whatever another node, a log or a user put there: control
// bytes and broken UTF-8 as \xNN. Line ends and tabs stay.
std::string printable(std::string_view bytes);

// The same for what must stay one line: a newline could forge the lines after it.
std::string one_line(std::string_view bytes);

// What is left of a text that is too long to be sent. Characters of UTF-8 stay whole.
std::string_view start_of_text(std::string_view text, std::size_t most);

// Begins with a whole line when one begins within reach.
std::string_view end_of_text(std::string_view text, std::size_t most);

}  // namespace paddle_launch
