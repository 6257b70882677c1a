// SPDX-License-Identifier: Apache-2.0
// See without_effect.h.
#include "launcher/cli/without_effect.h"

#include <string_view>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

constexpr std::string_view kForServers[] = {"server_wait", "legacy_env"};

// The script that runs once in the environment as it is has no use for them.
constexpr std::string_view kForStartedRoles[] = {"host",        "start_port", "port_range",
                                                 "http_port",   "gloo_port",  "with_gloo",
                                                 "server_wait", "legacy_env"};

constexpr std::string_view kForSeveralNodes[] = {"bootstrap_port", "bootstrap_timeout", "heartbeat",
                                                 "token_file"};

// A variable may be exported for all jobs of a user: only what was typed for this one is told of.
bool was_typed(const GivenOptions& given, std::string_view key) {
  const GivenOption* const option = given.find(key);
  return option != nullptr && !option->from_environment;
}

}  // namespace

std::vector<std::string> without_effect(const GivenOptions& given, const JobSpec& job) {
  const bool alone = !job.may_have_others();
  std::vector<std::string> notices;
  const auto tell = [&](std::string_view key, std::string_view why) {
    notices.push_back(fmt::format("{} has no effect: {}", said(*given.find(key)), why));
  };
  if (given.is_true("legacy")) tell("legacy", "there is only one launcher here");
  if (given.is_true("enable_gpu_log")) {
    tell("enable_gpu_log",
         "this launcher does not sample the GPUs as Paddle's does with nvidia-smi");
  }
  if (alone && given.find("master") != nullptr) tell("master", "one node needs no --master");
  if (given.is_true("sort_ip") && !job.master) {
    tell("sort_ip",
         alone ? std::string("there is one node, so nothing to sort")
               : fmt::format("{} {} the nodes in their order", job.ips_source,
                             job.ips_source.find(' ') == std::string::npos ? "has" : "have"));
  }
  for (const std::string_view key : kForServers) {
    if (!job.servers && was_typed(given, key)) tell(key, "the job has no parameter servers");
  }
  for (const std::string_view key : kForStartedRoles) {
    if (job.servers && job.servers->as_it_is && was_typed(given, key)) {
      tell(key, "the script runs once, in the environment as it is");
    }
  }
  for (const std::string_view key : kForSeveralNodes) {
    if (alone && was_typed(given, key)) tell(key, "there is one node");
  }
  if (job.master && was_typed(given, "bootstrap_port")) {
    tell("bootstrap_port", "--master names the port");
  }
  if (given.find("elastic_timeout") != nullptr && given.find("elastic_server") == nullptr) {
    tell("elastic_timeout", "the job is not elastic without --elastic_server");
  }
  return notices;
}

}  // namespace paddle_launch
