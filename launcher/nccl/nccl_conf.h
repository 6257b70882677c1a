// SPDX-License-Identifier: Apache-2.0
// NCCL's own configuration files. NCCL puts their lines into the environment where nothing is set
// yet, so what we set there ourselves would win over the administrator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/environment.h"

namespace paddle_launch {

// The files that NCCL reads: NCCL_CONF_FILE or the user's, then the machine's.
std::vector<std::string> nccl_conf_files(const Environment& env);

bool conf_sets(const std::vector<std::string>& files, std::string_view variable);

}  // namespace paddle_launch
