// SPDX-License-Identifier: Apache-2.0
// The little of NCCL that makes ids, opened at run time. It starts threads, edits the environment
// and raises limits of its process: never open it in the launcher itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/nccl_ids.h"
#include "launcher/os/shared_library.h"

namespace paddle_launch {

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
