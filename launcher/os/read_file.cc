// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

std::optional<std::string> read_file(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string content;
  std::array<char, 16384> chunk;
  for (;;) {
    const ssize_t got = read(file.get(), chunk.data(), chunk.size());
    if (got == 0) return content;
    if (got > 0) {
      content.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

}  // namespace paddle_launch
