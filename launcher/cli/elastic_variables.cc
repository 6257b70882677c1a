// SPDX-License-Identifier: Apache-2.0
// See elastic_variables.h.
#include "launcher/cli/elastic_variables.h"

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "launcher/cli/etcd_of_options.h"
#include "launcher/cli/option_table.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kServiceHost = "PADDLE_ELASTIC_ETCD_SERVICE_HOST";
constexpr std::string_view kServicePort = "PADDLE_ELASTIC_ETCD_SERVICE_PORT";
constexpr std::string_view kJobId = "PADDLE_ELASTIC_JOB_ID";
constexpr std::string_view kLevel = "PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL";  // Paddle's spelling
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
  const std::optional<std::string> scale = non_empty(env, kScale);
  if (scale && *scale != "0") {
    remarks.notices.push_back(
        fmt::format("{}={} has no effect: --scale=N sets the number of nodes of a running job, "
                    "without a script",
                    kScale, *scale));
  }
}

}  // namespace paddle_launch
