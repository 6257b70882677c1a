// SPDX-License-Identifier: Apache-2.0
// From the exception that ended the launcher to its exit status and words.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "launcher/job/errors.h"

namespace paddle_launch {

struct LaunchFailure {
  enum class Told { AsError, OnceForAllTasks, AsRemark, Already };
  enum class Kind { LaunchFailed, Interrupted, NodesChanged };

  int status = kLaunchErrorStatus;
  std::string text{};
  Told told = Told::AsError;
  Kind kind = Kind::LaunchFailed;
};

// As the report has it.
std::string_view key_of(LaunchFailure::Kind kind);

LaunchFailure failure_of(const std::exception_ptr& problem);

}  // namespace paddle_launch
