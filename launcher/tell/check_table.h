// SPDX-License-Identifier: Apache-2.0
// The answer of --check: which node reaches which, how quickly, and what to do where one does not.
#pragma once

#include <string>

#include "launcher/job/link_check.h"

namespace paddle_launch {

// The exit status: 0 where all links work, 75 where a node was lost meanwhile, else 1.
int check_status(const LinkCheck& check);

// Up to 16 nodes: a legend and a matrix. More: only what failed and what was slow. The last line is
// the verdict.
std::string check_table(const LinkCheck& check);

}  // namespace paddle_launch
