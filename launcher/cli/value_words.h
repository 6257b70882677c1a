// SPDX-License-Identifier: Apache-2.0
// The words that rules of value_rule.h take, once: for their readers, and for the shells that offer
// them.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cli/value_rule.h"

namespace paddle_launch {

inline constexpr std::string_view kTrueWords[] = {"true", "yes", "y", "t", "on", "1"};
inline constexpr std::string_view kFalseWords[] = {"false", "no", "n", "f", "off", "0"};

// As typed, and what it means.
inline constexpr std::pair<std::string_view, std::string_view> kLevelWords[] = {
    {"DEBUG", "DEBUG"}, {"INFO", "INFO"},      {"WARNING", "WARNING"}, {"WARN", "WARNING"},
    {"ERROR", "ERROR"}, {"CRITICAL", "ERROR"}, {"10", "DEBUG"},        {"20", "INFO"},
    {"30", "WARNING"},  {"40", "ERROR"},       {"50", "ERROR"},
};

inline constexpr std::string_view kWaysToMeet[] = {"auto", "solo", "tcp", "mpi", "pmix"};
inline constexpr std::string_view kStageDeviceWords[] = {"cpu", "gpu", "xpu"};

inline bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a shell can offer after the option, one spelling of each: all that the rule takes where that
// is a short list, the known words where it takes others too, and none where there is no list.
std::vector<std::string> words_of(const ValueRule& rule);

}  // namespace paddle_launch
