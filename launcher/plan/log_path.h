// SPDX-License-Identifier: Apache-2.0
// Which file a process writes into.
#pragma once

#include <string>

#include "launcher/job/role.h"

namespace paddle_launch {

// DIR/workerlog.3, DIR/serverlog.0, DIR/heterlog.1; empty where there is no directory: the process
// then writes straight to the console.
std::string log_path(const std::string& log_dir, ProcessName name);

}  // namespace paddle_launch
