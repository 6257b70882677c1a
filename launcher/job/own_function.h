// SPDX-License-Identifier: Apache-2.0
// What a process does in place of executing a program: a function of the program that the launcher
// is part of, called in a fork of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace paddle_launch {

struct OwnFunction {
  // Called where everything is as an executed program would find it; returns the exit code.
  // `index`: of so many processes of this pod.
  std::function<int(std::size_t index, std::size_t count, int rank)> call{};
  std::vector<int> kept{};  // descriptors of the program, which its memory may speak of
  std::string process_name{};
};

}  // namespace paddle_launch
