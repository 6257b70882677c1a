// SPDX-License-Identifier: Apache-2.0
// See not_built_yet.h.
#include "launcher/cli/not_built_yet.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kElastic = "elastic jobs are";

struct Harmless {
  std::string_view key;
  std::string_view value;  // asks for nothing
};

constexpr Harmless kElasticOptions[] = {{"elastic_server", ""},   {"np", ""},
                                        {"scale", "0"},           {"force", "False"},
                                        {"elastic_pre_hook", ""}, {"elastic_level", "-1"}};

[[noreturn]] void refuse(std::string_view input, std::string_view what_is,
                         std::string_view remedy) {
  throw UsageError(
      fmt::format("{}: {} not built yet in this version; {}, or use Paddle's own launcher "
                  "(python -m paddle.distributed.launch).",
                  input, what_is, remedy));
}

// "2:4"; "2:2" is the number 2.
bool is_range(std::string_view nodes) {
  const std::size_t colon = nodes.find(':');
  return colon != std::string_view::npos && nodes.substr(0, colon) != nodes.substr(colon + 1);
}

void refuse_changing_nodes(const GivenOptions& given) {
  const GivenOption* const nodes = given.find("nnodes");
  if (nodes != nullptr && is_range(nodes->value)) {
    refuse(said(*nodes), kElastic, fmt::format("give one number in {}", nodes->name));
  }
  const GivenOption* const master = given.find("master");
  if (master != nullptr && master->value.starts_with("etcd://")) {
    refuse(said(*master), kElastic,
           fmt::format("name HOST:PORT of the first node in {}", master->name));
  }
}

void refuse_elastic(const GivenOptions& given) {
  for (const Harmless& harmless : kElasticOptions) {
    const GivenOption* const option = given.find(harmless.key);
    if (option == nullptr || option->value == harmless.value) continue;
    refuse(said(*option), kElastic, how_to_drop(*option));
  }
  const GivenOption* const restarts = given.find("max_restart");
  if (restarts != nullptr && restarts->value != "0") {
    refuse(said(*restarts), "restarts are", how_to_drop(*restarts));
  }
}

}  // namespace

void refuse_not_built_yet(const GivenOptions& given) {
  refuse_changing_nodes(given);
  refuse_elastic(given);
}

}  // namespace paddle_launch
