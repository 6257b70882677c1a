// SPDX-License-Identifier: Apache-2.0
// What the options ask for of a job with parameter servers.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/choose_mode.h"
#include "launcher/cli/given_options.h"
#include "launcher/job/job_spec.h"
#include "launcher/job/role.h"

namespace paddle_launch {

// "worker 3": as the documents of jobs with parameter servers call their processes.
std::string name_in_words(ProcessName name);

// Throws UsageError for roles that are missing or contradict each other. Drops variables that do
// not count, with a warning.
ServerSpec servers_of_job(const ModeChoice& mode, GivenOptions& given, Remarks& remarks);

// Gloo's port, --server_wait and --legacy_env.
void fill_server_settings(GivenOptions& given, ServerSpec& spec, Remarks& remarks);

// Each host of the lists once, in the order of servers, workers and heterogeneous workers.
std::vector<std::string> hosts_of(const ServerSpec& spec);

// The options or variables that name endpoints, in the same order.
std::vector<const GivenOption*> endpoint_options(const GivenOptions& given);

// "--servers, --workers and --heter_workers"
std::string in_words(const std::vector<std::string>& names);

}  // namespace paddle_launch
