// SPDX-License-Identifier: Apache-2.0
// libnccl: where it and its configuration files may be, and the little of it that makes ids, opened
// at run time. It starts threads, edits the environment and raises limits of its process: never
// open it in the launcher itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/os/shared_library.h"

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

class NcclLibrary {
 public:
  // Throws std::runtime_error: it cannot be loaded, or is no NCCL.
  explicit NcclLibrary(const std::string& path);

  // Throws std::runtime_error with NCCL's own words. NCCL chooses its interface at the first id.
  // Fewer than `count` come where NCCL_COMM_ID is set: that is one fixed address.
  NcclIds make_ids(int count) const;

 private:
  std::string failure(const char* call, int result) const;

  SharedLibrary library_;
  int (*get_version_)(int*);
  int (*get_unique_id_)(char*);
  const char* (*get_error_string_)(int);
};

struct OpenedNccl {
  std::optional<NcclLibrary> library{};
  std::string problem{};  // of each candidate, why it cannot be used
};

// The first that can be used.
OpenedNccl open_nccl(const std::vector<std::string>& candidates);

}  // namespace paddle_launch
