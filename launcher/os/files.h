// SPDX-License-Identifier: Apache-2.0
// Whole files and whole texts: read, put in place, and written however often the kernel takes only
// a part.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace paddle_launch {

// Where the file lies that this process executes: what was installed beside it is found from there.
// Empty: the kernel does not tell.
inline std::filesystem::path own_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

// Reads a small file whole; for /proc and /sys, whose files have no size. None: it is not there or
// may not be read.
std::optional<std::string> read_file(const std::string& path);

// What a folder has, in the kernel's order, without what begins with a dot.
std::vector<std::string> names_in(const std::string& folder);

// Writes to a blocking descriptor, however often the kernel takes only a part. False: errno says
// why not all of it is written.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

// Whether it is a pipe, a socket or a file with something in it that nobody has read yet.
bool has_unread_bytes(int fd);

// Puts a file in its place as a whole, for readers that may look at any time. Whole or not at all:
// a reader never sees half of it. The text is what failed; none: it is there.
std::optional<std::string> replace_file(const std::string& path, const std::string& content,
                                        mode_t mode);

// For a terminal or pipe that may not take anything, and that must not hold us up. As much of the
// text as stderr takes, waiting no longer than this for each piece. SIGPIPE must be blocked or
// ignored.
void write_to_stderr_patiently(std::string_view text, std::chrono::milliseconds patience);

}  // namespace paddle_launch
