// SPDX-License-Identifier: Apache-2.0
// docs/parameter-server.md tells who reads which of these variables.
#include "launcher/plan/server_env.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

// Of one process; the others are the same for all.
constexpr const char* kRole = "PADDLE_TRAINING_ROLE";
constexpr const char* kOwnAddress = "PADDLE_CURRENT_IP";

}  // namespace

void add_old_variables(const ServerWorld& world, const RoleProcess& process,
                       std::vector<EnvVar>& env) {
  const Role role = process.name.role;
  if (role == Role::HeterWorker || world.servers.empty()) return;
  std::vector<std::string> hosts;
  for (const RoleProcess& server : world.servers) hosts.push_back(server.host);
  env.emplace_back(kRole, std::string(words_of(role).variable));
  env.emplace_back("PADDLE_PSERVER_IPS", fmt::format("{}", fmt::join(hosts, ",")));
  env.emplace_back("PADDLE_PSERVER_PORT", std::to_string(world.servers.front().port));
  env.emplace_back("PADDLE_TRAINERS", std::to_string(world.workers.size()));
  if (role == Role::Server) env.emplace_back(kOwnAddress, process.host);
}

bool is_of_one_old_process(std::string_view name) { return name == kRole || name == kOwnAddress; }

namespace {

constexpr int kAnyStage = 0;
constexpr std::string_view kNoCards = "0";  // Paddle's own launcher says so where there are none

std::string endpoints(const std::vector<RoleProcess>& list, int stage = kAnyStage) {
  std::vector<std::string> texts;
  for (const RoleProcess& process : list) {
    if (stage == kAnyStage || process.stage == stage) texts.push_back(process.endpoint());
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

// A Python list, stage 1 are the workers: "[2, 1, 2]".
std::string trainers_of_stages(const ServerWorld& world, int stages) {
  std::vector<int> numbers(static_cast<std::size_t>(stages), 0);
  numbers.front() = static_cast<int>(world.workers.size());
  for (const RoleProcess& process : world.heter_workers) {
    ++numbers.at(static_cast<std::size_t>(process.stage) - 1);
  }
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string stage_list(const ServerWorld& world, int stage) {
  if (stage == 1) return endpoints(world.workers);
  return stage < 1 ? "" : endpoints(world.heter_workers, stage);
}

void add_stages(const ServerWorld& world, const ServerSpec& spec, const RoleProcess& process,
                std::vector<EnvVar>& env) {
  const int stages = spec.heter_stages() + 1;
  const bool is_worker = process.name.role == Role::Trainer;
  env.emplace_back("STAGE_ID", std::to_string(process.stage));
  env.emplace_back("STAGE_NUM", std::to_string(stages));
  env.emplace_back("PADDLE_STAGE_TRAINERS_NUM", trainers_of_stages(world, stages));
  env.emplace_back("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST",
                   stage_list(world, process.stage - 1));
  env.emplace_back("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST",
                   process.stage == stages ? "" : stage_list(world, process.stage + 1));
  env.emplace_back("HETER_DEVICE_TYPE",
                   is_worker ? std::string("cpu")
                             : spec.heter_devices.at(static_cast<std::size_t>(process.stage) - 2));
}

// A worker sees one card, which is its card 0. Whoever hid all cards keeps them hidden.
void add_card(const RoleProcess& process, const CardsOfNode& node, const Environment& user,
              std::vector<EnvVar>& env) {
  const Card* const card = node.of(process);
  for (const CardWords& words : kCardWords) {
    const bool is_usual = words.kind == CardKind::Gpu || words.kind == CardKind::Xpu;
    if (!is_usual && node.kind != words.kind) continue;
    const auto hidden = lookup(user, words.visible_variable);
    const std::string seen = card != nullptr             ? card->name
                             : hidden && hidden->empty() ? std::string()
                                                         : std::string(kNoCards);
    env.emplace_back(words.selected_flag, "0");
    env.emplace_back(words.visible_variable, seen);
  }
}

void keep_visible_cards(const Environment& user, std::vector<EnvVar>& env) {
  for (const CardWords& words : kCardWords) {
    if (const auto value = lookup(user, words.visible_variable)) {
      env.emplace_back(words.visible_variable, *value);
    }
  }
}

}  // namespace

PaddleEnv common_server_env(const ServerWorld& world, const ServerSpec& spec,
                            const PaddleEnvSettings& settings) {
  PaddleEnv env;
  env.common = {
      {"PADDLE_TRAINERS_NUM", std::to_string(world.workers.size())},
      {"PADDLE_NNODES", std::to_string(world.nodes)},
      {"PADDLE_WITH_GLOO", spec.with_gloo},
      {"PADDLE_GLOO_RENDEZVOUS", "3"},
      {"PADDLE_GLOO_FS_PATH", gloo_folder(settings, world.pod_name)},
      {"PADDLE_GLOO_HTTP_ENDPOINT", world.gloo_endpoint},
      {"PADDLE_COORDINATOR_ENDPOINTS", ""},  // read since 2.4; coordinators are not started here
      {"POD_NAME", world.pod_name},
      {kJobVariable, settings.job_id},
  };
  add_log_dir(settings, env);
  add_round(settings.round, env);
  std::vector<EnvVar> lists = {{"PADDLE_PSERVERS_IP_PORT_LIST", endpoints(world.servers)},
                               {"PADDLE_TRAINER_ENDPOINTS", endpoints(world.workers)}};
  if (!world.heter_workers.empty()) {
    lists.emplace_back("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", endpoints(world.heter_workers));
    // What the readers of 2.0 and 2.1 look for.
    lists.emplace_back("PADDLE_HETER_TRAINER_IP_PORT_LIST", endpoints(world.heter_workers));
  }
  add_lists(std::move(lists), settings, static_cast<int>(world.my_pod), world.pod_name, env);
  return env;
}

std::vector<EnvVar> role_env(const ServerWorld& world, const ServerSpec& spec,
                             const RoleProcess& process, const CardsOfNode& cards,
                             const Environment& user) {
  const Role role = process.name.role;
  std::vector<EnvVar> env = {
      {"TRAINING_ROLE", std::string(words_of(role).variable)},
      {"PADDLE_ROLE", std::string(words_of(role).variable)},
      {"POD_IP", process.host},
      {"PADDLE_PORT", std::to_string(process.port)},
  };
  if (role == Role::Trainer)
    env.emplace_back("PADDLE_TRAINER_ID", std::to_string(process.name.index));
  if (!world.heter_workers.empty() && role != Role::Server) add_stages(world, spec, process, env);
  if (role == Role::Server) {
    keep_visible_cards(user, env);
  } else {
    add_card(process, cards, user, env);
  }
  if (spec.legacy_env) add_old_variables(world, process, env);
  return env;
}

}  // namespace paddle_launch
