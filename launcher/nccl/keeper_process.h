// SPDX-License-Identifier: Apache-2.0
// What the NCCL keeper does in its own process: opens libnccl at once, makes ids when asked, and
// then stays, since the ranks check in with threads that NCCL runs there.
#pragma once

#include <sys/types.h>

#include "launcher/nccl/find_nccl.h"

namespace paddle_launch {

// After the fork, in the child, with all signals blocked. Never returns; ends when the other end of
// the socket is closed, or when the launcher is gone.
[[noreturn]] void be_the_nccl_keeper(int socket, pid_t launcher, const NcclSearch& search);

}  // namespace paddle_launch
