// SPDX-License-Identifier: Apache-2.0
// Where libnccl and its configuration files may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/environment.h"

namespace paddle_launch {

// Where libnccl may be. The trainers' own copy comes first: how ranks check in with an id differs
// between versions of NCCL.
struct NcclSearch {
  std::string given{};   // --nccl_lib, a file or a directory; empty: search
  std::string python{};  // the trainers' interpreter; empty: they are no Python programs
  Environment env{};
  std::string toolkits = "/usr/local";  // where CUDA toolkits are installed, as cuda*
};

struct NcclCandidates {
  std::vector<std::string> paths{};  // to try in this order
  std::string problem{};             // why there are none
};

// Only files that exist, each once; at last the plain name, for the loader's own search. With
// --nccl_lib that file alone. Touches file systems that may hang.
NcclCandidates find_nccl(const NcclSearch& search);

// NCCL's own configuration files. NCCL puts their lines into the environment where nothing is set
// yet, so what we set there ourselves would win over the administrator. The files that NCCL reads:
// NCCL_CONF_FILE or the user's, then the machine's.
std::vector<std::string> nccl_conf_files(const Environment& env);

bool conf_sets(const std::vector<std::string>& files, std::string_view variable);

}  // namespace paddle_launch
