// SPDX-License-Identifier: Apache-2.0
// Writes to a blocking descriptor, however often the kernel takes only a part.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace paddle_launch {

// False: errno says why not all of it is written.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace paddle_launch
