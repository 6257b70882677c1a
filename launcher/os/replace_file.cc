// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "launcher/os/unique_fd.h"
#include "launcher/os/write_all.h"

namespace paddle_launch {

std::optional<std::string> replace_file(const std::string& path, const std::string& content,
                                        mode_t mode) {
  // The directory may be shared: a process of another machine has the same number.
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string temporary = path + "." + host.data() + "." + std::to_string(getpid());
  const auto failed = [&path, &temporary] {
    const std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    return path + ": " + reason;
  };
  const UniqueFd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file || !write_all(file.get(), content)) return failed();
  if (rename(temporary.c_str(), path.c_str()) != 0) return failed();
  return std::nullopt;
}

}  // namespace paddle_launch
