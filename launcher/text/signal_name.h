// SPDX-License-Identifier: Apache-2.0
// The names of signals.
#pragma once

#include <string>

namespace paddle_launch {

// "SIGTERM"; "SIGRTMIN+3"; "signal 77".
std::string signal_name(int signal);

}  // namespace paddle_launch
