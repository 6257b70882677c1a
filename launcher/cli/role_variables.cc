// SPDX-License-Identifier: Apache-2.0
// For users: docs/parameter-server.md.
#include "launcher/cli/role_variables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/old_role.h"
#include "launcher/cli/servers_of_job.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/errors.h"
#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kRole = "TRAINING_ROLE";
constexpr std::string_view kServers = "PADDLE_PSERVERS_IP_PORT_LIST";
constexpr std::string_view kWorkers = "PADDLE_TRAINER_ENDPOINTS";
constexpr std::string_view kHeterWorkers = "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST";
constexpr std::string_view kIndex = "PADDLE_TRAINER_ID";
constexpr std::string_view kAddress = "POD_IP";
constexpr std::string_view kPort = "PADDLE_PORT";

bool has_cloud_role(const Environment& env) {
  return non_empty(env, kRole) && non_empty(env, kServers);
}

// --run_mode=ps without servers or workers says the same as the variables.
bool agrees_with_variables(const ModeChoice& mode, const GivenOptions& given) {
  return mode.mode == Mode::ParameterServer && key_of(*mode.because->option) == "run_mode" &&
         given.first_of({"servers", "workers", "trainers", "server_num", "worker_num",
                         "trainer_num"}) == nullptr;
}

// The option that makes the job another one, whatever the variables say.
const GivenOption* deciding_option(const ModeChoice& mode, const GivenOptions& given) {
  if (mode.because != nullptr) {
    return agrees_with_variables(mode, given) ? nullptr : mode.because;
  }
  for (const std::string_view key :
       {"ips", "master", "nnodes", "nproc_per_node", "backend", "elastic_server", "np"}) {
    const GivenOption* const option = given.find(key);
    const bool decides = option != nullptr && !option->from_environment && option->text != "auto";
    if (decides) return option;
  }
  return nullptr;
}

// Each of these options that is given comes from a variable: a typed one would have decided the
// mode.
void drop_other_nodes(std::string_view because, GivenOptions& given, Remarks& remarks) {
  for (const std::string_view key :
       {"ips", "master", "nnodes", "nproc_per_node", "rank", "backend"}) {
    const GivenOption* const option = given.find(key);
    if (option == nullptr || !option->from_environment) continue;
    drop_unused(*option, fmt::format("{} says what this launcher starts", because), given, remarks);
  }
}

std::vector<std::string> endpoints_in(const Environment& env, std::string_view variable) {
  std::vector<std::string> endpoints;
  const std::string text = lookup(env, variable).value_or("");
  for (const std::string_view part : split(text, ',')) {
    const std::string_view endpoint = without_blanks(part);
    if (!endpoint.empty()) endpoints.emplace_back(endpoint);
  }
  return endpoints;
}

int index_of_trainer(const Environment& env) {
  const std::string text = lookup(env, kIndex).value_or("");
  const auto number = parse_whole_number(text);
  if (number && *number >= 0 && *number < kMostNodes) return static_cast<int>(*number);
  throw UsageError(fmt::format(
      "{}=TRAINER needs {}, and {}: it takes the number of this worker, from 0 on. Set {}, or "
      "unset {} to run a collective job.",
      kRole, kIndex,
      text.empty() ? std::string("it is not set")
                   : fmt::format("{}={} is no such number", kIndex, text),
      kIndex, kRole));
}

// Where the list has the endpoint of this process; none: nowhere.
std::optional<int> place_in(const std::vector<std::string>& endpoints, const Environment& env) {
  const std::string own =
      fmt::format("{}:{}", lookup(env, kAddress).value_or(""), lookup(env, kPort).value_or(""));
  const auto found = std::find(endpoints.begin(), endpoints.end(), own);
  if (found == endpoints.end()) return std::nullopt;
  return static_cast<int>(found - endpoints.begin());
}

int index_of_server(const std::vector<std::string>& servers, const Environment& env) {
  if (const auto place = place_in(servers, env)) return *place;
  throw UsageError(fmt::format(
      "{}=PSERVER: {}={} with {}={} is not in {}={}, so this server has no place. Correct the one "
      "that is wrong, or unset {} to run a collective job.",
      kRole, kAddress, lookup(env, kAddress).value_or(""), kPort, lookup(env, kPort).value_or(""),
      kServers, fmt::join(servers, ","), kRole));
}

ProcessName name_of_process(const std::vector<std::string>& servers, const Environment& env) {
  const std::string role = lookup(env, kRole).value_or("");
  if (role == words_of(Role::Trainer).variable) return {Role::Trainer, index_of_trainer(env)};
  if (role == words_of(Role::Server).variable) return {Role::Server, index_of_server(servers, env)};
  if (role == words_of(Role::HeterWorker).variable) {
    return {Role::HeterWorker, place_in(endpoints_in(env, kHeterWorkers), env).value_or(0)};
  }
  throw UsageError(
      fmt::format("{}={} is refused: with {} it takes TRAINER, PSERVER or HETER_TRAINER. Correct "
                  "it, or unset it to run a collective job.",
                  kRole, role, kServers));
}

ServerSpec cloud_role(const Environment& env, GivenOptions& given, Remarks& remarks) {
  ServerSpec spec;
  spec.servers = endpoints_in(env, kServers);
  spec.workers = endpoints_in(env, kWorkers);
  spec.as_it_is = name_of_process(spec.servers, env);
  const std::string role = fmt::format("{}={}", kRole, *lookup(env, kRole));
  drop_other_nodes(role, given, remarks);
  fill_server_settings(given, spec, remarks);
  remarks.notices.push_back(
      fmt::format("PaddleCloud's parameter-server variables are set ({}): the script runs once, as "
                  "{}, in this environment",
                  role, name_in_words(*spec.as_it_is)));
  return spec;
}

}  // namespace

std::optional<ServerSpec> servers_of_variables(const ModeChoice& mode, const Environment& env,
                                               GivenOptions& given, Remarks& remarks) {
  if (is_nested(env)) return std::nullopt;
  const bool in_cloud = has_cloud_role(env);
  if (!in_cloud && !has_old_role(env)) return std::nullopt;
  if (const GivenOption* const other = deciding_option(mode, given)) {
    remarks.notices.push_back(
        fmt::format("{} {} not used: {} says what the job is",
                    in_cloud ? fmt::format("{} and {}", kRole, kServers) : old_variables_in(env),
                    in_cloud || old_variables_in(env).find(' ') != std::string::npos ? "are" : "is",
                    said(*other)));
    return std::nullopt;
  }
  if (in_cloud) return cloud_role(env, given, remarks);
  ServerSpec spec = servers_of_old_role(env, given);
  drop_other_nodes(old_variables_in(env), given, remarks);
  fill_server_settings(given, spec, remarks);
  return spec;
}

}  // namespace paddle_launch
