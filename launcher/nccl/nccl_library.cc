// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/nccl_library.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

// The file behind a plain name.
std::string file_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

NcclLibrary::NcclLibrary(const std::string& path)
    : library_(path),
      get_version_(library_.symbol<int (*)(int*)>("ncclGetVersion")),
      get_unique_id_(library_.symbol<int (*)(char*)>("ncclGetUniqueId")),
      get_error_string_(library_.symbol<const char* (*)(int)>("ncclGetErrorString")) {}

std::string NcclLibrary::failure(const char* call, int result) const {
  std::string text = fmt::format("{} failed in {}: {}", call,
                                 file_of(reinterpret_cast<const void*>(get_unique_id_)),
                                 get_error_string_(result));
  try {
    // Since 2.13. What NCCL_DEBUG=WARN would have printed.
    const auto last_error = library_.symbol<const char* (*)(void*)>("ncclGetLastError");
    const char* const words = last_error(nullptr);
    if (words != nullptr && *words != '\0') text += fmt::format(" ({})", words);
  } catch (const std::runtime_error&) {
    text += " (NCCL_DEBUG=WARN says more)";
  }
  return text;
}

NcclIds NcclLibrary::make_ids(int count) const {
  NcclIds made;
  made.library = file_of(reinterpret_cast<const void*>(get_unique_id_));
  if (const int result = get_version_(&made.version); result != 0) {
    throw std::runtime_error(failure("ncclGetVersion", result));
  }
  for (int index = 0; index < count; ++index) {
    std::string id(kNcclIdBytes, '\0');
    if (const int result = get_unique_id_(id.data()); result != 0) {
      throw std::runtime_error(failure("ncclGetUniqueId", result));
    }
    if (index > 0 && id == made.ids.front()) break;
    made.ids.push_back(std::move(id));
  }
  return made;
}

OpenedNccl open_nccl(const std::vector<std::string>& candidates) {
  std::string problem = "no libnccl.so.2 can be used";
  std::string_view separator = ": ";
  for (const std::string& path : candidates) {
    try {
      return {NcclLibrary(path), {}};
    } catch (const std::runtime_error& error) {
      const std::string_view why = error.what();
      // The loader's words mostly begin with the file.
      problem += why.starts_with(path) ? fmt::format("{}{}", separator, why)
                                       : fmt::format("{}{}: {}", separator, path, why);
      separator = "; ";
    }
  }
  return {std::nullopt, std::move(problem)};
}

}  // namespace paddle_launch
