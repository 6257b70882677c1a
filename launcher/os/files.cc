// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

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

std::vector<std::string> names_in(const std::string& folder) {
  const auto close = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> listing(opendir(folder.c_str()), close);
  std::vector<std::string> names;
  if (!listing) return names;
  while (const dirent* entry = readdir(listing.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

bool has_unread_bytes(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return lseek(fd, 0, SEEK_CUR) < status.st_size;
  int waiting = 0;
  return (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) &&
         ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

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
