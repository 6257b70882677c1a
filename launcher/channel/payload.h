// SPDX-License-Identifier: Apache-2.0
// What the first pod has for all pods of a round, and what travels to them beside the roster.
#pragma once

#include <string>
#include <string_view>

#include "launcher/job/nccl_ids.h"

namespace paddle_launch {

struct JobPayload {
  std::string log_name{};  // of the directory that --log_dir=auto makes
  NcclIds nccl{};

  bool operator==(const JobPayload&) const = default;
};

// Empty where there is nothing.
std::string pack_payload(const JobPayload& payload);
// Nothing where it cannot be read.
JobPayload unpack_payload(std::string_view bytes);

}  // namespace paddle_launch
