// SPDX-License-Identifier: Apache-2.0
// docs/nccl.md says how a trainer uses an id.
#include "launcher/plan/nccl_env.h"

#include <algorithm>
#include <string>

#include "launcher/text/bytes_as_text.h"

namespace paddle_launch {
namespace {

constexpr int kRanksPerId = 256;
// In hex an id has 257 characters with its comma, and a variable must stay below 128 KiB.
constexpr int kMostIds = 400;

}  // namespace

int ids_for(int world_size) {
  return std::clamp((world_size + kRanksPerId - 1) / kRanksPerId, 1, kMostIds);
}

std::vector<EnvVar> nccl_variables(const NcclIds& ids) {
  if (ids.ids.empty()) return {};
  std::string list;
  for (const std::string& id : ids.ids) {
    if (!list.empty()) list += ',';
    list += in_hex(id);
  }
  return {{kNcclIdVariable, list}, {kNcclVersionVariable, std::to_string(ids.version)}};
}

}  // namespace paddle_launch
