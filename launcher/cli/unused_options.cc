// SPDX-License-Identifier: Apache-2.0
// For users: docs/compatibility.md.
#include "launcher/cli/unused_options.h"

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
    if (option == nullptr || option->text == refusal.harmless) continue;
    throw UsageError(fmt::format(
        "{}: {} is not part of this launcher and will not be. Use Paddle's own launcher for it "
        "(python -m paddle.distributed.launch), or {}.",
        said(*option), refusal.what, how_to_drop(*option)));
  }
}

namespace {

constexpr std::string_view kForServers[] = {"gloo_port", "with_gloo", "server_wait", "legacy_env"};

// Without effect where PaddleCloud started this one process, or a job is one worker without
// servers.
constexpr std::string_view kForStartedRoles[] = {
    "host",      "start_port",  "port_range", "http_port", "gloo_port",
    "with_gloo", "server_wait", "legacy_env", "omp",       "proxy"};

constexpr std::string_view kForSeveralNodes[] = {"bootstrap_port", "bootstrap_timeout", "heartbeat",
                                                 "token_file"};

constexpr std::string_view kForElasticJobs[] = {"elastic_timeout", "elastic_settle", "elastic_ttl",
                                                "elastic_pre_hook", "force"};
constexpr std::string_view kForRestarts[] = {"restart_pause", "restart_on"};

constexpr std::string_view kNotElastic = "the job is not elastic without --elastic_server";
constexpr std::string_view kPlacesInEtcd =
    "the nodes of an elastic job have their places from etcd";

// A variable may be exported for all jobs of a user: only what was typed for this one is told of.
bool was_typed(const GivenOptions& given, std::string_view key) {
  const GivenOption* const option = given.find(key);
  return option != nullptr && !option->from_environment;
}

std::string has_no_effect(const GivenOption& option, std::string_view why) {
  return fmt::format("{} has no effect: {}", said(option), why);
}

std::string why_nothing_is_sorted(const JobSpec& job) {
  if (job.elastic) return std::string(kPlacesInEtcd);
  if (!job.may_have_others()) return "there is one node, so nothing to sort";
  return fmt::format("{} {} the nodes in their order", job.ips_source,
                     job.ips_source.find(' ') == std::string::npos ? "has" : "have");
}

// --elastic_level=-1 asks for nothing, and 1 is what every job with --max_restart does.
bool level_counts(const GivenOption& level, const JobSpec& job) {
  return job.elastic || level.as<int>() == -1 || (level.as<int>() == 1 && job.has_rounds());
}

void add_parts_of_rounds(const GivenOptions& given, const JobSpec& job,
                         std::vector<std::string>& notices) {
  const auto add_typed = [&](std::string_view key, std::string_view why) {
    if (was_typed(given, key)) notices.push_back(has_no_effect(*given.find(key), why));
  };
  for (const std::string_view key : kForElasticJobs) {
    if (!job.elastic && given.text(key) != "False") add_typed(key, kNotElastic);
  }
  const GivenOption* const level = given.find("elastic_level");
  if (level != nullptr && !level_counts(*level, job)) add_typed("elastic_level", kNotElastic);
  for (const std::string_view key : kForRestarts) {
    if (!job.has_rounds())
      add_typed(key, "a failed job is not started again without --max_restart");
  }
  if (job.elastic && given.text("rank") != "-1") add_typed("rank", kPlacesInEtcd);
}

}  // namespace

std::vector<std::string> without_effect(const GivenOptions& given, const JobSpec& job) {
  const bool alone = !job.may_have_others();
  std::vector<std::string> notices;
  const auto tell = [&](std::string_view key, std::string_view why) {
    notices.push_back(has_no_effect(*given.find(key), why));
  };
  if (given.is_true("legacy")) tell("legacy", "there is only one launcher here");
  if (alone && given.find("master") != nullptr) tell("master", "one node needs no --master");
  if (given.is_true("sort_ip") && !job.master) {
    tell("sort_ip", why_nothing_is_sorted(job));
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
  add_parts_of_rounds(given, job, notices);
  return notices;
}

}  // namespace paddle_launch
