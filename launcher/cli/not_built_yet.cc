// SPDX-License-Identifier: Apache-2.0
// See not_built_yet.h.
#include "launcher/cli/not_built_yet.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/job/errors.h"
#include "launcher/text/split.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kSeveralNodes = "several nodes are";
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

void refuse_nodes(const GivenOptions& given) {
  const GivenOption* const ips = given.find("ips");
  if (ips != nullptr && ips->value.find(',') != std::string::npos) {
    refuse(said(*ips), kSeveralNodes,
           fmt::format("name one address in {} to run on this node alone", ips->name));
  }
  const GivenOption* const nodes = given.find("nnodes");
  if (nodes != nullptr && nodes->value != "1" && nodes->value != "1:1") {
    refuse(said(*nodes), kSeveralNodes, how_to_drop(*nodes) + " to run on this node alone");
  }
  const GivenOption* const master = given.find("master");
  if (master != nullptr && master->value.starts_with("etcd://")) {
    refuse(said(*master), kElastic, how_to_drop(*master) + " to run on this node alone");
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

bool all_set(const Environment& env, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&env](std::string_view name) {
    return !lookup(env, name).value_or("").empty();
  });
}

std::size_t count_hosts(std::string_view endpoints) {
  std::set<std::string_view> hosts;
  for (const std::string_view endpoint : split(endpoints, ',')) {
    if (!endpoint.empty()) hosts.insert(endpoint.substr(0, endpoint.rfind(':')));
  }
  return hosts.size();
}

void refuse_cloud(const Environment& env) {
  if (all_set(env, {"PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM"})) {
    const std::string trainers = *lookup(env, "PADDLE_TRAINERS");
    const std::string number = lookup(env, "PADDLE_TRAINERS_NUM").value_or("");
    const bool alone = number.empty() || number == "1";
    if (count_hosts(trainers) > 1 || !alone) {
      refuse(fmt::format("PADDLE_TRAINERS={} in the environment (PaddleCloud)", trainers),
             kSeveralNodes, "unset PADDLE_TRAINERS to run on this node alone");
    }
  }
  const std::string endpoints = lookup(env, "DISTRIBUTED_TRAINER_ENDPOINTS").value_or("");
  if (count_hosts(endpoints) > 1) {
    refuse(fmt::format("DISTRIBUTED_TRAINER_ENDPOINTS={} in the environment", endpoints),
           kSeveralNodes, "unset DISTRIBUTED_TRAINER_ENDPOINTS to run on this node alone");
  }
  for (const ServerSet& set : kServerSets) {
    if (!all_set(env, {set.servers, set.role})) continue;
    refuse(fmt::format("{} and {} in the environment", set.servers, set.role),
           "the parameter-server mode is",
           fmt::format("unset {} to run a collective job", set.servers));
  }
}

}  // namespace

void refuse_not_built_yet(const GivenOptions& given, const ModeChoice& mode,
                          const Environment& env) {
  refuse_mode(mode);
  refuse_nodes(given);
  refuse_elastic(given);
  if (!is_nested(env)) refuse_cloud(env);
}

}  // namespace paddle_launch
