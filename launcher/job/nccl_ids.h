// SPDX-License-Identifier: Apache-2.0
// The ids with which the trainers of one round open an NCCL communicator, made by the launcher of
// the first pod. An id serves one communicator, once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace paddle_launch {

constexpr std::size_t kNcclIdBytes = 128;

// Whoever knows an id can check in with it: it is not shown.
constexpr const char* kNcclIdVariable = "PADDLE_LAUNCH_NCCL_ID";

struct NcclIds {
  std::vector<std::string> ids{};  // raw bytes, kNcclIdBytes each
  int version = 0;                 // what ncclGetVersion said where they were made: 22809 is 2.28.9
  std::string library{};           // the file, for messages

  bool operator==(const NcclIds&) const = default;
};

}  // namespace paddle_launch
