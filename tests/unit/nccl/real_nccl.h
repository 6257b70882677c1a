// SPDX-License-Identifier: Apache-2.0
// The machine's own libnccl, for tests that need the real one.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "launcher/nccl/libnccl.h"
#include "launcher/text/lists.h"

namespace paddle_launch {

inline Environment real_environment() {
  Environment env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return env;
}

// Where the launcher looks, and where nvcc is. Without a library `given` is empty.
inline NcclSearch search_for_real_nccl() {
  NcclSearch search{"", "", real_environment()};
  const std::string path = lookup(search.env, "PATH").value_or("");
  for (const std::string_view directory : split(path, ':')) {
    const std::filesystem::path bin(directory);
    std::error_code ignored;
    if (!std::filesystem::exists(bin / "nvcc", ignored)) continue;
    search.env.emplace("CUDA_HOME", bin.parent_path().string());
  }
  const std::string first = find_nccl(search).paths.front();
  search.given = std::filesystem::path(first).is_absolute() ? first : "";
  return search;
}

}  // namespace paddle_launch

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): only a macro can leave the test
#define SKIP_WITHOUT_NCCL(search)                                                               \
  if ((search).given.empty()) {                                                                 \
    GTEST_SKIP() << "there is no libnccl.so.2 on this machine (CUDA_HOME, /usr/local/cuda*, "   \
                    "LD_LIBRARY_PATH, beside nvcc): what only the real one shows is not tried"; \
  }
