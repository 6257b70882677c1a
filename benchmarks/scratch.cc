// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/scratch.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace paddle_launch {

std::filesystem::path scratch_parent() {
  if (const char* wish = std::getenv("TMPDIR")) return wish;
  return access("/dev/shm", R_OK | W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

Scratch::Scratch() {
  std::string name = (scratch_parent() / "launch_benchmark.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
  }
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace paddle_launch
