// SPDX-License-Identifier: Apache-2.0
// What one of the two processes of a simulated meeting tells the benchmark: lines "key value".
#pragma once

#include <chrono>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

void say(const char* key, double value);
// A moment on the clock that all processes of this machine share, in seconds.
double moment(std::chrono::steady_clock::time_point time);

struct Costs {
  long resident_kibibytes = 0;
  double cpu_seconds = 0;
};

Costs costs_now();
// "memory": how far this process grew at most since then, in KiB; "cpu": what it used.
void say_costs_since(const Costs& before);

// One descriptor a pod is more than the usual soft limit.
void allow_descriptors(int count);
// Readable when SIGTERM was sent to this process, which must have blocked it: see block_sigterm.
UniqueFd blocked_sigterm();
void block_sigterm();
// Closing sends a reset and leaves no port in TIME_WAIT, of which repetitions would use up all.
void close_by_reset(int fd);

}  // namespace paddle_launch
