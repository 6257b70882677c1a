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
  std::string command{};  // as typed, without control bytes, cut where it is long
  std::time_t since = 0;
};

// None where there is no such process, or where it may not be looked at.
std::optional<OtherProcess> look_at_process(pid_t pid);

}  // namespace paddle_launch
