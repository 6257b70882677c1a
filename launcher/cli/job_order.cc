// SPDX-License-Identifier: Apache-2.0
// For users: docs/elastic.md.
#include "launcher/cli/job_order.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "launcher/cli/config_file.h"
#include "launcher/cli/elastic_of_job.h"
#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/etcd_of_options.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kWithOrders[] = {"elastic_server", "master",    "job_id",   "etcd_user",
                                            "etcd_cacert",    "etcd_cert", "etcd_key", "config"};

void refuse_other_options(const GivenOption& order, const GivenOptions& typed) {
  for (const auto& [key, option] : typed) {
    const bool belongs =
        option.name == order.name ||
        std::find(std::begin(kWithOrders), std::end(kWithOrders), key) != std::end(kWithOrders);
    if (belongs) continue;
    throw UsageError(fmt::format(
        "{} and {}: the first acts on a running job and starts none, so the second has nothing to "
        "say; {}",
        said(order), said(option), how_to_drop(option)));
  }
}

}  // namespace

const GivenOption* asked_order(const GivenOptions& given) {
  const GivenOption* order = nullptr;
  for (const OrderWord& word : kOrderWords) {
    const GivenOption* const other = given.find(word.option);
    if (other == nullptr) continue;
    if (order != nullptr) refuse_together(*order, *other, "one order is given at a time");
    order = other;
  }
  return order;
}

JobOrder order_of_options(const GivenOption& asked, const Environment& env, GivenOptions given) {
  refuse_other_options(asked, given);
  Remarks remarks;
  add_config_file(given);
  add_environment_defaults(env, given, remarks);
  add_elastic_variables(env, given, remarks);
  const GivenOption* const server = choose_etcd(given, remarks);
  if (server == nullptr) {
    throw UsageError(
        fmt::format("{}: it acts on a running elastic job, and nothing says where that is. Add "
                    "--elastic_server=HOST:PORT and --job_id=NAME as the job has them.",
                    said(asked)));
  }
  check_job_id(*server, given);

  JobOrder order;
  for (const OrderWord& word : kOrderWords) {
    if (word.option == key_of(*asked.option)) order.kind = word.kind;
  }
  order.etcd = etcd_of_options(*server, given, env, remarks);
  order.job_id = given.text("job_id").value_or("default");
  order.json = order.kind == JobOrder::Kind::Status && asked.text == "json";
  if (order.kind != JobOrder::Kind::Scale) return order;
  order.nodes = given.value<int>("scale").value_or(0);
  if (order.nodes > 0) return order;
  throw UsageError(fmt::format(
      "{}: a job has at least one node. Write the number of nodes that it shall have, or --stop to "
      "end it.",
      said(asked)));
}

void refuse_order_with_script(const GivenOptions& given, std::string_view script) {
  for (const OrderWord& word : kOrderWords) {
    const GivenOption* const order = given.find(word.option);
    if (order == nullptr || (word.kind == JobOrder::Kind::Scale && order->as<int>() == 0)) continue;
    throw UsageError(
        fmt::format("{}: it acts on a running job and starts none; leave out {}, or {} to start it",
                    said(*order), script, how_to_drop(*order)));
  }
}

}  // namespace paddle_launch
