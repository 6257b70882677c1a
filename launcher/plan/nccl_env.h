// SPDX-License-Identifier: Apache-2.0
// How NCCL's ids reach the trainers.
#pragma once

#include <string_view>
#include <vector>

#include "launcher/job/nccl_ids.h"
#include "launcher/job/process_spec.h"

namespace paddle_launch {

constexpr std::string_view kNcclIdVariable = "PADDLE_LAUNCH_NCCL_ID";

// One for each 256 ranks: from there on NCCL staggers the ranks that check in at one address.
int ids_for(int world_size);

// PADDLE_LAUNCH_NCCL_ID and PADDLE_LAUNCH_NCCL_VERSION; none without ids. plugin/nccl reads them.
std::vector<EnvVar> nccl_variables(const NcclIds& ids);

}  // namespace paddle_launch
