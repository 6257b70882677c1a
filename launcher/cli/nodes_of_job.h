// SPDX-License-Identifier: Apache-2.0
// Which nodes the job has and how they find each other: a list in --ips or the endpoints of a job
// with parameter servers, --master with --nnodes, or etcd.
#pragma once

#include <optional>

#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// --rank=-1 leaves the place open.
inline constexpr int kNoRank = -1;

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
