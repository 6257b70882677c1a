// SPDX-License-Identifier: Apache-2.0
// What becomes of the user's script: a program that is executed, or a function of this process that
// is called in its place.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace paddle_launch {

// What a process does in place of executing a program: a function of the program that the launcher
// is part of, called in a fork of it.
struct OwnFunction {
  // Called where everything is as an executed program would find it; returns the exit code.
  // `index`: of so many processes of this pod.
  std::function<int(std::size_t index, std::size_t count, int rank)> call{};
  std::vector<int> kept{};  // descriptors of the program, which its memory may speak of
  std::string process_name{};
};

// What is executed for the user's script, or called in its place.
struct Program {
  std::string path;
  std::vector<std::string> argv;
  const OwnFunction* function = nullptr;  // called instead; path and argv are for people then

  bool operator==(const Program&) const = default;
};

}  // namespace paddle_launch
