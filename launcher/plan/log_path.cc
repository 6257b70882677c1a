// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/log_path.h"

namespace paddle_launch {

std::string log_path(const std::string& log_dir, ProcessName name) {
  if (log_dir.empty()) return {};
  const char* const kind = name.role == Role::Server    ? "/serverlog."
                           : name.role == Role::Trainer ? "/workerlog."
                                                        : "/heterlog.";
  return log_dir + kind + std::to_string(name.index);
}

}  // namespace paddle_launch
