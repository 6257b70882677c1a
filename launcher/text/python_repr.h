// SPDX-License-Identifier: Apache-2.0
// Writes strings as Python's repr() does: the argument banner looks like Paddle's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// 'it' or "it's"; what cannot be printed is escaped, bytes that are not UTF-8 as Python's '\udcXX'.
std::string python_repr(std::string_view text);

// ['--lr', '0.1']
std::string python_repr(const std::vector<std::string>& list);

}  // namespace paddle_launch
