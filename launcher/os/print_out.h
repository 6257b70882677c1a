// SPDX-License-Identifier: Apache-2.0
// What a command without a job prints.
#pragma once

#include <cstdio>
#include <string>

namespace paddle_launch {

// False: not all of it could be written.
inline bool print_out(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

}  // namespace paddle_launch
