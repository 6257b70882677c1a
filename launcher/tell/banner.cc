// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/banner.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace paddle_launch {
namespace {

constexpr std::size_t kKeyWidth = 42;
constexpr std::size_t kValueWidth = 45;
constexpr std::string_view kCut = "... ";

std::string shortened(const std::string& value) {
  if (value.size() < kValueWidth) return value;
  return std::string(kCut).append(value, value.size() - (kValueWidth - kCut.size()));
}

}  // namespace

std::string argument_banner(std::vector<std::pair<std::string, std::string>> arguments) {
  std::sort(arguments.begin(), arguments.end());
  std::string text = "-----------  Configuration Arguments -----------\n";
  for (const auto& [key, value] : arguments) {
    text += value.empty() ? fmt::format("{}:\n", key) : fmt::format("{}: {}\n", key, value);
  }
  return text + "------------------------------------------------\n";
}

std::string environment_table(std::vector<EnvVar> env) {
  std::sort(env.begin(), env.end());
  const std::string rule(kKeyWidth + kValueWidth, '=');
  const std::string thin_rule(kKeyWidth + kValueWidth, '-');
  std::string text =
      fmt::format("{}\n            Distributed Envs              Value\n{}\n", rule, thin_rule);
  for (const auto& [name, value] : env) {
    // A name that fills its column still ends before its value.
    std::string row =
        fmt::format("{:<{}}{}", name, std::max(kKeyWidth, name.size() + 1), shortened(value));
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text + rule + "\n";
}

}  // namespace paddle_launch
