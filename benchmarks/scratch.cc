// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/scratch.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace paddle_launch {

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "launch_benchmark.XXXXXX").string();
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
