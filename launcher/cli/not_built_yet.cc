// SPDX-License-Identifier: Apache-2.0
// See not_built_yet.h.
#include "launcher/cli/not_built_yet.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "launcher/cli/environment_defaults.h"
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

struct ServerSet {
  std::string_view servers;
  std::string_view role;
};

// PaddleCloud's set, and that of the first cluster documents.
constexpr ServerSet kServerSets[] = {{"PADDLE_PSERVERS_IP_PORT_LIST", "TRAINING_ROLE"},
                                     {"PADDLE_PSERVER_IPS", "PADDLE_TRAINING_ROLE"}};

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

void refuse_mode(const ModeChoice& choice) {
  if (choice.mode == Mode::Collective) return;
  const std::string_view what = choice.mode == Mode::Rpc ? "the rpc mode is"
                                : choice.mode == Mode::ParameterServer
                                    ? "the parameter-server mode is"
                                    : "the heterogeneous parameter-server mode is";
  refuse(said(*choice.because), what, how_to_drop(*choice.because) + " to run a collective job");
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

void refuse_servers(const Environment& env) {
  for (const ServerSet& set : kServerSets) {
    if (!non_empty(env, set.servers) || !non_empty(env, set.role)) continue;
    refuse(fmt::format("{} and {} in the environment", set.servers, set.role),
           "the parameter-server mode is",
           fmt::format("unset {} to run a collective job", set.servers));
  }
}

}  // namespace

void refuse_not_built_yet(const GivenOptions& given, const ModeChoice& mode,
                          const Environment& env) {
  refuse_mode(mode);
  refuse_changing_nodes(given);
  refuse_elastic(given);
  if (!is_nested(env)) refuse_servers(env);
}

}  // namespace paddle_launch
