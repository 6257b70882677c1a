// SPDX-License-Identifier: Apache-2.0
// How NCCL's ids reach the trainers.
#pragma once

#include <vector>

#include "launcher/job/nccl_ids.h"
#include "launcher/job/plan.h"

namespace paddle_launch {

constexpr const char* kNcclVersionVariable = "PADDLE_LAUNCH_NCCL_VERSION";

// One for each 256 ranks: from there on NCCL staggers the ranks that check in at one address.
int ids_for(int world_size);

// Both of them; none without ids. plugin/nccl reads them.
std::vector<EnvVar> nccl_variables(const NcclIds& ids);

}  // namespace paddle_launch
