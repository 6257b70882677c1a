// SPDX-License-Identifier: Apache-2.0
// A plugin that brings tasks together (plugin/bootstrap_abi.h), its C calls made comfortable. Lives
// in the meeting child only: the launcher itself loads neither MPI nor PMIx.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/shared_library.h"
#include "plugin/bootstrap_abi.h"

namespace paddle_launch {

struct TaskNumber {
  int task = 0;
  int tasks = 1;

  bool operator==(const TaskNumber&) const = default;
};

// Whatever fails throws std::runtime_error with the plugin's own reason.
class BootstrapPlugin {
 public:
  explicit BootstrapPlugin(const std::string& path);

  std::string name() const { return calls_->name; }
  bool inner_takes_leave() const { return (calls_->flags & PADDLE_LAUNCH_INNER_TAKES_LEAVE) != 0; }

  void open() const;
  TaskNumber number() const;
  std::vector<std::string> allgather(std::string_view mine) const;  // by task
  std::string broadcast(std::string_view bytes) const;              // of task 0
  void abort(int status, const std::string& message) const;
  void close() const;

 private:
  SharedLibrary library_;
  const paddle_launch_bootstrap_v1* calls_;
};

}  // namespace paddle_launch
