// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/own_words.h"

#include <cstdio>

#include "launcher/os/files.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {

void say_patiently(std::string_view text, std::chrono::milliseconds patience) {
  write_to_stderr_patiently(printable(text), patience);
}

void say_on_stderr(std::string_view text) { std::fputs(printable(text).c_str(), stderr); }

bool print_out(std::string_view text) {
  return std::fputs(printable(text).c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

}  // namespace paddle_launch
