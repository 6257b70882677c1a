// SPDX-License-Identifier: Apache-2.0
// Which nodes the job has and how they find each other: a list in --ips or the endpoints of a job
// with parameter servers, --master with --nnodes, or etcd.
#pragma once

#include <optional>
#include <string_view>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// The number of nodes as options have it: "4" or "2:4". `value` is one that the rule NodeCount has
// accepted.
NodeRange node_range_in(std::string_view value);

// Of --nnodes; 1 without it. For jobs that are not elastic: a range has two equal ends there.
int number_of_nodes(const GivenOptions& given);

// Where a list of nodes and a master are both there, drops the weaker one with a warning: what was
// typed beats a variable, and among variables the list beats the master. Throws UsageError when
// both were typed.
void choose_list_or_master(GivenOptions& given, const std::optional<ServerSpec>& servers,
                           Remarks& remarks);

// Reads job.servers and job.elastic as well. Throws UsageError for a list, a number of nodes and a
// rank that cannot all be true.
void fill_nodes(const GivenOptions& given, JobSpec& job);

}  // namespace paddle_launch
