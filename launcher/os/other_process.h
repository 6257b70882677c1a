// SPDX-License-Identifier: Apache-2.0
// What /proc tells about a process of this machine, for words that name it.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <optional>
#include <string>

namespace paddle_launch {

struct OtherProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name{};     // as the kernel shows it, 15 bytes at most
  std::string command{};  // as shown_command() has it
  std::time_t since = 0;
};

// The command as typed, without the folder of its program, of the bytes of /proc/PID/cmdline. It
// goes to a terminal, so control bytes are taken out, and cut where it is long.
std::string shown_command(std::string command);

// None where there is no such process, or where it may not be looked at.
std::optional<OtherProcess> look_at_process(pid_t pid);

}  // namespace paddle_launch
