// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/log_lines.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kPlain = "@%+=:,./-_";

bool needs_no_quotes(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string quoted(const std::string& word) {
  if (needs_no_quotes(word)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string shell_quoted(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& word : argv) {
    if (!text.empty()) text += ' ';
    text += quoted(word);
  }
  return text;
}

std::string log_start_line(const ProcessPlan& plan, const ProcessSpec& spec,
                           const std::string& when) {
  const std::string again = plan.round > 0 ? fmt::format("round {}, ", plan.round) : "";
  return fmt::format("{}{} {}{} of {}: {} ====\n", kLogLineMark, when, again, name_of_spec(spec),
                     plan.size_of(spec.role), one_line(shell_quoted(plan.argv)));
}

std::string log_stop_line(const ProcessSpec& spec, const std::string& because,
                          const std::string& when) {
  return fmt::format("{}{} {} was stopped because {} ====\n", kLogLineMark, when,
                     name_of_spec(spec), one_line(because));
}

}  // namespace paddle_launch
