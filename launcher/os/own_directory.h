// SPDX-License-Identifier: Apache-2.0
// Where the file lies that this process executes: what was installed beside it is found from there.
#pragma once

#include <filesystem>
#include <system_error>

namespace paddle_launch {

// Empty: the kernel does not tell.
inline std::filesystem::path own_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace paddle_launch
