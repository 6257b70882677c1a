// SPDX-License-Identifier: Apache-2.0
// The process environment as a value. main.cc alone reads the real one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

using Environment = std::map<std::string, std::string, std::less<>>;

inline std::optional<std::string> lookup(const Environment& env, std::string_view name) {
  const auto found = env.find(name);
  if (found == env.end()) return std::nullopt;
  return found->second;
}

}  // namespace paddle_launch
