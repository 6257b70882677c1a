// SPDX-License-Identifier: Apache-2.0
// What is executed for the user's script, or called in its place.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/own_function.h"

namespace paddle_launch {

struct Program {
  std::string path;
  std::vector<std::string> argv;
  const OwnFunction* function = nullptr;  // called instead; path and argv are for people then

  bool operator==(const Program&) const = default;
};

}  // namespace paddle_launch
