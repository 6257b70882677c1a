// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/close_all_but.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace paddle_launch {

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (fd < 0 || static_cast<unsigned>(fd) < from) continue;
    const auto next = static_cast<unsigned>(fd);
    if (next > from) syscall(SYS_close_range, from, next - 1, 0);
    from = next + 1;
  }
  syscall(SYS_close_range, from, ~0U, 0);
}

}  // namespace paddle_launch
