// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/etcd_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paddle_launch {

std::string why_etcd_is_no_use(const EtcdSpec& etcd, const EtcdProblem& problem,
                               std::chrono::seconds waited) {
  using Kind = EtcdProblem::Kind;
  const bool needs_advice = problem.kind == Kind::None || problem.kind == Kind::Unexplained;
  const std::string why =
      problem.empty()
          ? fmt::format("{}: no answer in {} s", fmt::join(etcd.endpoints, ","), waited.count())
          : problem.text;
  return fmt::format(
      "{}: {}{}", etcd.source, why,
      needs_advice ? "; check the address, that etcd runs, and that this node reaches it" : "");
}

}  // namespace paddle_launch
