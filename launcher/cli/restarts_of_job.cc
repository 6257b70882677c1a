// SPDX-License-Identifier: Apache-2.0
// See restarts_of_job.h.
#include "launcher/cli/restarts_of_job.h"

#include "launcher/cli/restart_causes.h"

namespace paddle_launch {
namespace {

constexpr int kMostInElasticJobs = 3;

// At level -1 a failure ends an elastic job, unless the user names a number of restarts.
int most_by_default(const std::optional<ElasticSpec>& elastic) {
  return elastic && elastic->level >= 0 ? kMostInElasticJobs : 0;
}

}  // namespace

RestartSpec restarts_of_job(const GivenOptions& given, const std::optional<ElasticSpec>& elastic) {
  RestartSpec restarts;
  restarts.most = given.number("max_restart").value_or(most_by_default(elastic));
  restarts.first_pause = given.duration("restart_pause").value_or(restarts.first_pause);
  if (const auto causes = given.text("restart_on")) restarts.on = restart_causes_in(*causes);
  return restarts;
}

}  // namespace paddle_launch
