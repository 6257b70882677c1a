// SPDX-License-Identifier: Apache-2.0
// What the kernel can tell about processes that came to a bad end.
#pragma once

#include <string>

namespace paddle_launch {

// How many processes the OOM killer ended since the machine started; kOomKillsUnknown where the
// kernel does not tell.
long oom_kills_so_far();

// "pid 4711 (python3), state D (uninterruptible), waiting in nfs_wait_bit": for what SIGKILL does
// not end.
std::string describe_stuck_process(int pid);

}  // namespace paddle_launch
