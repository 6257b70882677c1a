// SPDX-License-Identifier: Apache-2.0
// PaddleCloud and Paddle's Kubernetes operator: a platform that names the nodes of a collective
// job, this node's place among them and the ports of the trainers, all by variables.
#pragma once

#include "launcher/cli/given_options.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// True when the whole set is there and describes this job.
bool is_paddle_cloud(const Environment& env);

// Where the set is not whole, and nothing else names the nodes: a list of endpoints on several
// hosts as --master and --nnodes.
void add_meeting_point(const Environment& env, GivenOptions& given, Remarks& remarks);

// With --master: the platform's number for this node as --rank.
void add_platform_rank(const Environment& env, GivenOptions& given, Remarks& remarks);

// PADDLE_TRAINERS as --ips. Throws UsageError when --ips says something else.
void add_cloud_nodes(const Environment& env, GivenOptions& given);

// This node's place and ports. Throws UsageError where the platform's variables contradict each
// other.
void take_cloud_place(const Environment& env, const GivenOptions& given, JobSpec& job,
                      Remarks& remarks);

}  // namespace paddle_launch
