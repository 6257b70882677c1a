// SPDX-License-Identifier: Apache-2.0
// For users: docs/parameter-server.md.
#include "launcher/cli/old_role.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/nodes_of_job.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/errors.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

// What the variables say, before it becomes a pod with one process among others.
struct OldRole {
  ProcessName mine{};
  std::vector<std::string> server_hosts{};
  int port = kLegacyServerPort;  // of every server
  int trainers = 1;
};

constexpr std::string_view kRole = "PADDLE_TRAINING_ROLE";
constexpr std::string_view kServers = "PADDLE_PSERVER_IPS";
constexpr std::string_view kPort = "PADDLE_PSERVER_PORT";
constexpr std::string_view kTrainers = "PADDLE_TRAINERS";
constexpr std::string_view kTrainersNum = "PADDLE_TRAINERS_NUM";
constexpr std::string_view kOwnAddress = "PADDLE_CURRENT_IP";
constexpr std::string_view kIndex = "PADDLE_TRAINER_ID";
constexpr std::string_view kOfPaddleCloud[] = {"TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST",
                                               "TRAINER_PORTS_NUM"};

std::string needed(const Environment& env, std::string_view variable, std::string_view meaning) {
  if (auto value = non_empty(env, variable)) return *value;
  const std::string others = old_variables_in(env);
  throw UsageError(fmt::format(
      "{} is not set, and the environment ({}) asks for a job with parameter servers by the "
      "variables of Paddle's first cluster documents, which needs it. Set it to {}, or unset {} to "
      "run a collective job.",
      variable, others, meaning, others));
}

[[noreturn]] void refuse(std::string_view variable, std::string_view value, std::string_view why) {
  throw UsageError(fmt::format("{0}={1} is refused: {2}. Correct {0}.", variable, value, why));
}

std::vector<std::string> server_hosts(const Environment& env) {
  const std::string text =
      needed(env, kServers, "the addresses of all servers with commas between them");
  if (text.find(':') != std::string::npos) {
    refuse(
        kServers, text,
        fmt::format("it takes IPv4 addresses or host names alone; the port of every server is {}",
                    kPort));
  }
  const ValueReading reading = read_value(EndpointList{true}, text);
  if (!reading.problem.empty()) refuse(kServers, text, reading.problem);
  std::vector<std::string> hosts = std::get<Stages>(reading.value).front();
  for (auto host = hosts.begin(); host != hosts.end(); ++host) {
    if (std::find(hosts.begin(), host, *host) == host) continue;
    refuse(kServers, text, fmt::format("{} is there twice, and every server has its own", *host));
  }
  return hosts;
}

int number_between(int low, int high, std::string_view variable, std::string_view text) {
  const ValueReading reading = read_value(WholeNumber{low, high}, text);
  if (!reading.problem.empty()) refuse(variable, text, reading.problem);
  return std::get<int>(reading.value);
}

// On PaddleCloud PADDLE_TRAINERS lists addresses, in the documents it is a number. A single word
// that is neither is a typing error, unless PADDLE_TRAINERS_NUM says that there is one trainer.
int length_of_list(const std::string& text, const Environment& env) {
  const ValueReading reading = read_value(EndpointList{true}, text);
  const bool is_lone_word = text.find_first_of(",.") == std::string::npos;
  if (!reading.problem.empty() || (is_lone_word && !non_empty(env, kTrainersNum))) {
    refuse(kTrainers, text,
           fmt::format("it takes the number of trainers, from 1 to {}, or their addresses with "
                       "commas between them",
                       kMostNodes));
  }
  return static_cast<int>(std::get<Stages>(reading.value).front().size());
}

int number_of_trainers(const Environment& env) {
  const std::string text = needed(env, kTrainers, "the number of trainers");
  const bool is_number = parse_whole_number(text).has_value();
  const int trainers =
      is_number ? number_between(1, kMostNodes, kTrainers, text) : length_of_list(text, env);
  const auto other = parse_whole_number(lookup(env, kTrainersNum).value_or(""));
  if (other && *other != trainers) {
    throw UsageError(fmt::format(
        "{}={} means {} trainer{}, and {}={} contradicts it. Correct the one that is wrong, or "
        "unset {}.",
        kTrainers, text, trainers, trainers == 1 ? "" : "s", kTrainersNum, *other, kTrainersNum));
  }
  return trainers;
}

int place_of_server(const std::vector<std::string>& hosts, const Environment& env) {
  const std::string own =
      needed(env, kOwnAddress, fmt::format("this server's entry of {}", kServers));
  const auto found = std::find(hosts.begin(), hosts.end(), own);
  if (found != hosts.end()) return static_cast<int>(found - hosts.begin());
  throw UsageError(fmt::format(
      "{0}={1} is not among {2}={3}, so this server has no place. Write it as it stands "
      "there, or add it to {2} of every launcher.",
      kOwnAddress, own, kServers, fmt::join(hosts, ",")));
}

int index_of_trainer(int trainers, const Environment& env) {
  const std::string text =
      needed(env, kIndex, fmt::format("this trainer's number, from 0 to {}", trainers - 1));
  const auto number = parse_whole_number(text);
  if (number && *number >= 0 && *number < trainers) return static_cast<int>(*number);
  refuse(kIndex, text,
         fmt::format("{}={} has the trainers 0 to {}, and it takes one of these numbers", kTrainers,
                     lookup(env, kTrainers).value_or(""), trainers - 1));
}

// A typed option that says something else about this process than the variables do.
void check_typed(const OldRole& role, const GivenOptions& given) {
  const GivenOption* const rank = given.find("rank");
  if (rank != nullptr && !rank->from_environment && rank->as<int>() != kNoRank) {
    throw UsageError(
        fmt::format("{} and {} contradict each other: the role has its own place; {}, or "
                    "unset {} and {}",
                    said(*rank), kRole, how_to_drop(*rank), kRole, kServers));
  }
  const GivenOption* const host = given.find("host");
  if (role.mine.role != Role::Server || host == nullptr || host->from_environment) return;
  const std::string& own = role.server_hosts[static_cast<std::size_t>(role.mine.index)];
  if (host->text == own) return;
  throw UsageError(
      fmt::format("{} and {}={} contradict each other: each names the address of this "
                  "server; {}, or correct {}",
                  said(*host), kOwnAddress, own, how_to_drop(*host), kOwnAddress));
}

OldRole read_old_role(const Environment& env, const GivenOptions& given) {
  const std::string word = needed(env, kRole, "PSERVER or TRAINER");
  const bool is_server = word == words_of(Role::Server).variable;
  if (!is_server && word != words_of(Role::Trainer).variable) {
    refuse(kRole, word, "it takes PSERVER or TRAINER");
  }
  OldRole role;
  role.server_hosts = server_hosts(env);
  if (const auto port = non_empty(env, kPort)) {
    role.port = number_between(1, kHighestPort, kPort, *port);
  }
  role.trainers = number_of_trainers(env);
  role.mine = is_server ? ProcessName{Role::Server, place_of_server(role.server_hosts, env)}
                        : ProcessName{Role::Trainer, index_of_trainer(role.trainers, env)};
  check_typed(role, given);
  return role;
}

}  // namespace

bool has_old_role(const Environment& env) {
  if (non_empty(env, kServers)) return true;
  return non_empty(env, kRole) &&
         std::none_of(std::begin(kOfPaddleCloud), std::end(kOfPaddleCloud),
                      [&env](std::string_view name) { return non_empty(env, name).has_value(); });
}

std::string old_variables_in(const Environment& env) {
  std::vector<std::string_view> set;
  for (const std::string_view variable : {kRole, kServers}) {
    if (non_empty(env, variable)) set.push_back(variable);
  }
  return fmt::format("{}", fmt::join(set, " and "));
}

ServerSpec servers_of_old_role(const Environment& env, const GivenOptions& given) {
  const OldRole role = read_old_role(env, given);
  const bool is_server = role.mine.role == Role::Server;
  const auto index = static_cast<std::size_t>(role.mine.index);
  ServerSpec spec;
  spec.legacy_env = true;
  spec.layout = fmt::format("{}={} {}={} {}={}", kServers, fmt::join(role.server_hosts, ","), kPort,
                            role.port, kTrainers, role.trainers);
  SingleProcess& single = spec.single.emplace();
  single.mine = role.mine;
  single.called = is_server ? "to be server " + role.server_hosts.at(index)
                            : fmt::format("{}={}", kIndex, index);
  single.port_source = kPort;
  for (const std::string& host : role.server_hosts) {
    spec.servers.push_back(fmt::format("{}:{}", host, role.port));
    single.pods.push_back("server " + host);
  }
  for (int i = 0; i < role.trainers; ++i) single.pods.push_back(fmt::format("trainer {}", i));
  return spec;
}

}  // namespace paddle_launch
