// SPDX-License-Identifier: Apache-2.0
// What is executed for the user's script.
#pragma once

#include <string>
#include <vector>

namespace paddle_launch {

struct Program {
  std::string path;
  std::vector<std::string> argv;

  bool operator==(const Program&) const = default;
};

}  // namespace paddle_launch
