// SPDX-License-Identifier: Apache-2.0
// Which processes of the job each pod has, by the names that everybody knows them by.
#pragma once

#include <vector>

#include "launcher/job/role.h"
#include "launcher/job/roster.h"

namespace paddle_launch {

// For each pod, in the order of its trainers, then of its roles. Places that nobody asked for are
// given in the roster's order, heterogeneous workers by stages first.
std::vector<std::vector<ProcessName>> names_of_pods(const Roster& roster);

}  // namespace paddle_launch
