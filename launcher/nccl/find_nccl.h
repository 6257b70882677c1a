// SPDX-License-Identifier: Apache-2.0
// Where libnccl may be. The trainers' own copy comes first: how ranks check in with an id differs
// between versions of NCCL.
#pragma once

#include <string>
#include <vector>

#include "launcher/job/environment.h"

namespace paddle_launch {

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

}  // namespace paddle_launch
