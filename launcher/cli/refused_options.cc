// SPDX-License-Identifier: Apache-2.0
// See refused_options.h.
#include "launcher/cli/refused_options.h"

#include <string_view>

#include <fmt/format.h>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

struct Refusal {
  std::string_view key;
  std::string_view what;
  std::string_view harmless;  // the value that asks for nothing
};

constexpr Refusal kRefusals[] = {
    {"auto_tuner_json", "the auto-tuner", ""},
    {"auto_parallel_config", "the planner of auto-parallel jobs", ""},
    {"auto_cluster_config", "the cluster probe of auto-parallel jobs", "0"},
    {"cluster_topo_path", "mapping ranks by a cluster description", ""},
    {"rank_mapping_path", "mapping ranks by a file", ""},
    {"enable_auto_mapping", "mapping ranks automatically", "False"},
    {"coordinators", "federated learning with coordinators", ""},
    {"coordinator_num", "federated learning with coordinators", ""},
};

}  // namespace

void refuse_for_good(const GivenOptions& given) {
  for (const Refusal& refusal : kRefusals) {
    const GivenOption* const option = given.find(refusal.key);
    if (option == nullptr || option->value == refusal.harmless) continue;
    throw UsageError(fmt::format(
        "{}: {} is not part of this launcher and will not be. Use Paddle's own launcher for it "
        "(python -m paddle.distributed.launch), or {}.",
        said(*option), refusal.what, how_to_drop(*option)));
  }
}

}  // namespace paddle_launch
