// SPDX-License-Identifier: Apache-2.0
// Foreign bytes made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace paddle_launch {

// Whatever another node, a log or a user put there: control bytes and broken UTF-8 as \xNN. Line
// ends and tabs stay.
std::string printable(std::string_view bytes);

// The same for what must stay one line: a newline could forge the lines after it.
std::string one_line(std::string_view bytes);

}  // namespace paddle_launch
