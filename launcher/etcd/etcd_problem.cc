// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/etcd_problem.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paddle_launch {
namespace {

bool has(std::string_view problem, std::string_view words) {
  return problem.find(words) != std::string_view::npos;
}

// Where the text names its remedy by itself, or is about this node, there is nothing to add.
bool needs_advice(const EtcdSpec& etcd, std::string_view problem) {
  const bool is_about_a_server =
      std::any_of(etcd.endpoints.begin(), etcd.endpoints.end(),
                  [problem](const std::string& one) { return problem.starts_with(one); });
  return is_about_a_server && !has(problem, "--etcd_") && !is_refusal(problem);
}

}  // namespace

bool is_refusal(std::string_view problem) {
  return has(problem, "authentication failed") || has(problem, "only known users") ||
         has(problem, "must be allowed");
}

std::string why_etcd_is_no_use(const EtcdSpec& etcd, const std::string& problem,
                               std::chrono::seconds waited) {
  const std::string why =
      problem.empty()
          ? fmt::format("{}: no answer in {} s", fmt::join(etcd.endpoints, ","), waited.count())
          : problem;
  return fmt::format("{}: {}{}", etcd.source, why,
                     needs_advice(etcd, why)
                         ? "; check the address, that etcd runs, and that this node reaches it"
                         : "");
}

}  // namespace paddle_launch
