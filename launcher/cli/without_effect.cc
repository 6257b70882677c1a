// SPDX-License-Identifier: Apache-2.0
// See without_effect.h.
#include "launcher/cli/without_effect.h"

#include <fmt/format.h>

namespace paddle_launch {

std::vector<std::string> without_effect(const GivenOptions& given) {
  std::vector<std::string> notices;
  const auto tell = [&](std::string_view key, std::string_view why) {
    notices.push_back(fmt::format("{} has no effect: {}", said(*given.find(key)), why));
  };
  if (given.is_true("legacy")) tell("legacy", "there is only one launcher here");
  if (given.is_true("enable_gpu_log")) {
    tell("enable_gpu_log",
         "this launcher does not sample the GPUs as Paddle's does with nvidia-smi");
  }
  if (given.find("master") != nullptr) tell("master", "one node needs no --master");
  if (given.is_true("sort_ip")) tell("sort_ip", "there is one node, so nothing to sort");
  if (given.find("elastic_timeout") != nullptr && given.find("elastic_server") == nullptr) {
    tell("elastic_timeout", "the job is not elastic without --elastic_server");
  }
  return notices;
}

}  // namespace paddle_launch
