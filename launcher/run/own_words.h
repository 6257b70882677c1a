// SPDX-License-Identifier: Apache-2.0
// The launcher's own words on their way to stderr and stdout, where no console says them. Another
// node, a file or etcd may have put any byte into them: here, and in Console::say, they become
// printable. Line ends stay, since tables and reports have several lines.
#pragma once

#include <chrono>
#include <string_view>

namespace paddle_launch {

// As much as stderr takes, waiting no longer than this for each piece. SIGPIPE must be blocked or
// ignored.
void say_patiently(std::string_view text, std::chrono::milliseconds patience);

// For whoever has nothing else to do.
void say_on_stderr(std::string_view text);

// What a command without a job prints. False: not all of it could be written.
bool print_out(std::string_view text);

}  // namespace paddle_launch
