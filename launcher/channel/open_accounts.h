// SPDX-License-Identifier: Apache-2.0
// The accounts to begin with: who is where, and has which processes.
#pragma once

#include <vector>

#include "launcher/channel/judge.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// Of several launchers on a node each is told from the others: "10.0.0.3 (launcher of ranks 2 to
// 3)".
std::vector<PodAccount> open_accounts(const Roster& roster);

}  // namespace paddle_launch
