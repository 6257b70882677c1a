// SPDX-License-Identifier: Apache-2.0
// What options and variables ask for of an elastic job.
#pragma once

#include <optional>

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Variables that count in elastic jobs alone, or in another spelling than the option has. After
// add_environment_defaults: an option and its own variable come first. Throws UsageError for a
// value that is refused.
void add_elastic_variables(const Environment& env, GivenOptions& given, Remarks& remarks);

// None: nothing names an etcd server. Drops lists of nodes that do not count, with a word. Throws
// UsageError for parts of an elastic job that are missing, or are there without the rest.
std::optional<ElasticSpec> elastic_of_job(const ModeChoice& mode, const Environment& env,
                                          GivenOptions& given, Remarks& remarks);

// The variables of a platform say that the job has parameter servers.
[[noreturn]] void refuse_elastic_servers(const ElasticSpec& elastic);

}  // namespace paddle_launch
