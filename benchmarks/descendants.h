// SPDX-License-Identifier: Apache-2.0
// Every process below this one, and what /proc tells about it. The benchmark is a subreaper, so
// whatever a launcher leaves behind or detaches is still found here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace paddle_launch {

struct Descendant {
  pid_t pid = 0;
  std::string name;  // comm

  bool operator==(const Descendant&) const = default;
};

std::vector<Descendant> descendants();

// Voluntary and other context switches of all threads.
long context_switches(pid_t pid);
// Private_Clean + Private_Dirty.
long private_kibibytes(pid_t pid);
// Pss: what several processes share is dealt out among them.
long proportional_kibibytes(pid_t pid);

// Of all descendants that have ended and were waited for, up to now.
double cpu_seconds_of_the_gone();

void become_subreaper();
// Waits until nothing is left below us; what is still there after `patience` is killed.
// False when something had to be killed.
bool clear_descendants(std::chrono::milliseconds patience);

}  // namespace paddle_launch
