// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/write_patiently.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace paddle_launch {

void write_to_stderr_patiently(std::string_view text, std::chrono::milliseconds patience) {
  while (!text.empty()) {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (poll(&ready, 1, static_cast<int>(patience.count())) != 1) return;
    // A pipe that is ready has room for this much.
    const ssize_t count =
        write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace paddle_launch
