// SPDX-License-Identifier: Apache-2.0
// See value_words.h.
#include "launcher/cli/value_words.h"

#include "launcher/cli/restart_causes.h"
#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

using Words = std::vector<std::string>;

constexpr int kMostNumbersOffered = 4;

Words all_of(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

struct Offer {
  Words operator()(Boolean) const {
    return {std::string(kTrueWords[0]), std::string(kFalseWords[0])};
  }

  Words operator()(WholeNumber range) const {
    Words numbers;
    if (range.high - range.low >= kMostNumbersOffered) return numbers;
    for (int number = range.low; number <= range.high; ++number) {
      numbers.push_back(std::to_string(number));
    }
    return numbers;
  }

  // Without the word that the option means by itself.
  Words operator()(OneOf rule) const {
    Words words = all_of(split(rule.choices, '|'));
    std::erase(words, rule.bare);
    return words;
  }

  Words operator()(LogLevelWord) const {
    Words levels;
    for (const auto& [typed, level] : kLevelWords) {
      if (typed == level) levels.emplace_back(typed);
    }
    return levels;
  }

  Words operator()(StageDevices) const { return all_of(kStageDeviceWords); }
  Words operator()(RestartOn) const { return all_of(kWholeCauses); }
  Words operator()(PluginName) const { return all_of(kWaysToMeet); }
  Words operator()(ActsAtOnce rule) const { return all_of(split(rule.after_equals, '|')); }

  template <typename OtherRule>
  Words operator()(const OtherRule& /*rule*/) const {
    return {};
  }
};

}  // namespace

std::vector<std::string> words_of(const ValueRule& rule) { return std::visit(Offer(), rule); }

}  // namespace paddle_launch
