// SPDX-License-Identifier: Apache-2.0
// For users: docs/elastic.md.
#include "launcher/cli/elastic_of_job.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/etcd_of_options.h"
#include "launcher/cli/nodes_of_job.h"
#include "launcher/cli/option_table.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kServiceHost = "PADDLE_ELASTIC_ETCD_SERVICE_HOST";
constexpr std::string_view kServicePort = "PADDLE_ELASTIC_ETCD_SERVICE_PORT";
constexpr std::string_view kJobId = "PADDLE_ELASTIC_JOB_ID";
constexpr std::string_view kLevel = "PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL";  // Paddle's spelling
constexpr std::string_view kPodEndpoints = "DISTRIBUTED_TRAINER_ENDPOINTS";
constexpr std::string_view kScale = "PADDLE_ELASTIC_SCALE";

bool has_etcd(const GivenOptions& given) {
  const GivenOption* const master = given.find("master");
  return given.find("elastic_server") != nullptr || (master != nullptr && is_etcd_master(*master));
}

// Kubernetes sets these two in every pod beside such a service, so they alone make no job elastic.
void add_service(const Environment& env, GivenOptions& given, Remarks& remarks) {
  const std::optional<std::string> host = non_empty(env, kServiceHost);
  const std::optional<std::string> port = non_empty(env, kServicePort);
  if (!host || !port || has_etcd(given)) return;
  if (given.first_of({"np", "status", "scale", "stop"}) == nullptr) return;
  add_variable(*find_option("--elastic_server"), kServiceHost, fmt::format("{}:{}", *host, *port),
               given, remarks);
}

}  // namespace

void add_elastic_variables(const Environment& env, GivenOptions& given, Remarks& remarks) {
  if (is_nested(env)) return;
  add_service(env, given, remarks);
  if (!has_etcd(given)) return;
  if (const auto id = non_empty(env, kJobId)) {
    add_variable(*find_option("--job_id"), kJobId, *id, given, remarks);
  }
  if (const auto level = non_empty(env, kLevel)) {
    // Paddle's older launcher calls a job with a range of nodes level 2.
    add_variable(*find_option("--elastic_level"), kLevel, *level == "2" ? "1" : *level, given,
                 remarks);
  }
  if (non_empty(env, kPodEndpoints)) {
    remarks.notices.push_back(
        fmt::format("the ports in {} are not used: nodes of an elastic job come and go, and each "
                    "round has free "
                    "ports, or those from --start_port on",
                    kPodEndpoints));
  }
  const std::optional<std::string> scale = non_empty(env, kScale);
  if (scale && *scale != "0") {
    remarks.notices.push_back(
        fmt::format("{}={} has no effect: --scale=N sets the number of nodes of a running job, "
                    "without a script",
                    kScale, *scale));
  }
}

namespace {

constexpr std::string_view kServersAreNot =
    "parameter servers keep their state, so only collective and rpc jobs can be elastic";

void refuse_parts_without_etcd(const GivenOptions& given) {
  if (const GivenOption* const np = given.find("np")) {
    throw UsageError(fmt::format(
        "{}: the nodes of an elastic job meet at an etcd server, and none is named. Add "
        "--elastic_server=HOST:PORT and --job_id=NAME, or {} and name the nodes with --ips.",
        said(*np), how_to_drop(*np)));
  }
  const GivenOption* const nodes = given.find("nnodes");
  if (nodes != nullptr && !nodes->as<NodeRange>().is_fixed()) {
    throw UsageError(fmt::format(
        "{}: a range is for an elastic job, whose nodes meet at an etcd server, and none is named. "
        "Write --master=etcd://HOST:PORT, or give one number in {}.",
        said(*nodes), nodes->name));
  }
  for (const std::string_view key : {"etcd_user", "etcd_cacert", "etcd_cert", "etcd_key"}) {
    const GivenOption* const option = given.find(key);
    // A variable may be exported for all jobs of a user.
    if (option == nullptr || option->from_environment) continue;
    throw UsageError(
        fmt::format("{}: no etcd server is named. Add --elastic_server=HOST:PORT, or {}.",
                    said(*option), how_to_drop(*option)));
  }
}

void refuse_what_cannot_be_elastic(const GivenOption& server, const ModeChoice& mode,
                                   const GivenOptions& given) {
  if (has_servers(mode.mode)) refuse_together(server, *mode.because, kServersAreNot);
  if (const GivenOption* const check = given.find("check")) {
    refuse_together(server, *check,
                    "the nodes of an elastic job come and go, and --check tries a fixed set");
  }
  const GivenOption* const bootstrap = given.find("bootstrap");
  if (bootstrap != nullptr && bootstrap->text != "auto") {
    refuse_together(server, *bootstrap, "the launchers of an elastic job meet at etcd");
  }
}

// An elastic job needs no list of nodes: etcd has their addresses.
void settle_list(const GivenOption& server, GivenOptions& given, Remarks& remarks) {
  const GivenOption* const list = given.find("ips");
  if (list == nullptr) return;
  const bool has_several = list->as<std::vector<std::string>>().size() > 1;
  if (has_several && !list->from_environment) {
    refuse_together(server, *list, "each is a way for the nodes to find each other");
  }
  if (has_several) {
    return drop_unused(*list, fmt::format("the nodes meet at {}", said(server)), given, remarks);
  }
  if (!list->from_environment) {
    remarks.notices.push_back(fmt::format(
        "{} has no effect: the nodes of an elastic job meet at {}; this node's address is named by "
        "--host",
        said(*list), said(server)));
  }
  given.drop("ips");
}

[[noreturn]] void refuse_without_number(const GivenOption& server, const GivenOptions& given) {
  const std::string_view option = is_etcd_master(server) ? "--nnodes" : "--np";
  const std::string value = given.text("nnodes").value_or("MIN:MAX");
  throw UsageError(
      fmt::format("{0}: nothing says how many nodes the elastic job has. Add {1}=N for a fixed "
                  "number, or {1}={2} for a range.",
                  said(server), option, value.find(':') == std::string::npos ? "MIN:MAX" : value));
}

// --np, or --nnodes where --master names etcd.
const GivenOption& choose_nodes(const GivenOption& server, const GivenOptions& given,
                                Remarks& remarks) {
  const GivenOption* first = given.find("np");
  const GivenOption* second = given.find("nnodes");
  if (is_etcd_master(server)) std::swap(first, second);
  const bool second_counts = first == nullptr && is_etcd_master(server);
  if (second_counts) std::swap(first, second);
  if (first == nullptr) refuse_without_number(server, given);
  if (second == nullptr || second->as<NodeRange>() == first->as<NodeRange>()) return *first;
  if (!second->from_environment) {
    refuse_together(*first, *second, "each is the number of nodes");
  }
  remarks.warnings.push_back(
      fmt::format("{} is not used: {} is the number of nodes", said(*second), said(*first)));
  return *first;
}

// As in Paddle a fixed --nnodes is no wish for restarts; --np has always been one.
int level_by_default(const GivenOption& nodes) {
  const bool is_fixed = nodes.as<NodeRange>().is_fixed();
  return is_fixed && key_of(*nodes.option) == "nnodes" ? -1 : ElasticSpec().level;
}

void fill_settings(const GivenOptions& given, ElasticSpec& elastic) {
  elastic.timeout =
      given.value<std::chrono::milliseconds>("elastic_timeout").value_or(elastic.timeout);
  elastic.settle =
      given.value<std::chrono::milliseconds>("elastic_settle").value_or(elastic.settle);
  if (const auto ttl = given.value<int>("elastic_ttl")) elastic.ttl = std::chrono::seconds(*ttl);
  elastic.force = given.is_true("force");
  elastic.pre_hook = given.text("elastic_pre_hook").value_or("");
}

}  // namespace

std::optional<ElasticSpec> elastic_of_job(const ModeChoice& mode, const Environment& env,
                                          GivenOptions& given, Remarks& remarks) {
  const GivenOption* const server = choose_etcd(given, remarks);
  if (server == nullptr) {
    refuse_parts_without_etcd(given);
    return std::nullopt;
  }
  refuse_what_cannot_be_elastic(*server, mode, given);
  settle_list(*server, given, remarks);
  const GivenOption& nodes = choose_nodes(*server, given, remarks);
  check_job_id(*server, given);
  if (given.find("job_id") == nullptr) {
    remarks.notices.push_back(
        fmt::format("--job_id is not given: the job is called 'default' at {}, where any other job "
                    "without a name would be taken for it",
                    said(*server)));
  }
  ElasticSpec elastic;
  elastic.etcd = etcd_of_options(*server, given, env, remarks);
  elastic.nodes = nodes.as<NodeRange>();
  elastic.nodes_source = nodes.name;
  elastic.level = given.value<int>("elastic_level").value_or(level_by_default(nodes));
  fill_settings(given, elastic);
  return elastic;
}

void refuse_elastic_servers(const ElasticSpec& elastic) {
  throw UsageError(fmt::format(
      "{}={}: TRAINING_ROLE or PADDLE_TRAINING_ROLE asks for a job with parameter servers, and {}. "
      "Unset {}, or add --run_mode=collective.",
      elastic.etcd.source, fmt::join(elastic.etcd.endpoints, ","), kServersAreNot,
      elastic.etcd.source));
}

}  // namespace paddle_launch
