// SPDX-License-Identifier: Apache-2.0
// --dry_run: the plan, for people and for programs. Shows only what the launcher sets, never the
// user's own environment, which may hold secrets.
#pragma once

#include <string>

#include "launcher/job/plan.h"

namespace paddle_launch {

std::string dry_run_text(const ProcessPlan& plan);
std::string dry_run_json(const ProcessPlan& plan);

}  // namespace paddle_launch
