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

  int status = kLaunchErrorStatus;
  std::string text{};
  Told told = Told::AsError;
  std::string_view kind = "launch_failed";  // in the report
};

LaunchFailure failure_of(const std::exception_ptr& problem);

}  // namespace paddle_launch
