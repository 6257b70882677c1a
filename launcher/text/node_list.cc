// SPDX-License-Identifier: Apache-2.0
// See node_list.h.
#include "launcher/text/node_list.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kMostHosts = 65536;  // Slurm's own limit for one range
constexpr int kMostBrackets = 2;
constexpr std::size_t kMostDigits = 18;  // what surely fits a long long
constexpr std::string_view kSeparators = ", \t\n";

bool is_separator(char c) { return kSeparators.find(c) != std::string_view::npos; }

// A comma between brackets does not end an entry. None: the brackets are not in pairs.
std::optional<std::vector<std::string_view>> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at == list.size() || (!inside && is_separator(list[at]))) {
      if (at > begin) entries.push_back(list.substr(begin, at - begin));
      begin = at + 1;
      continue;
    }
    const bool bracket = list[at] == '[' || list[at] == ']';
    if (bracket && inside == (list[at] == '[')) return std::nullopt;
    if (bracket) inside = !inside;
  }
  if (inside) return std::nullopt;
  return entries;
}

// No sign, as a number in a node's name has none.
std::optional<long long> plain_number(std::string_view digits) {
  if (digits.starts_with('-') || digits.size() > kMostDigits) return std::nullopt;
  return parse_whole_number(digits);
}

// "08-11" or "3". The first number's zeros are kept in all of them.
bool add_range(std::string_view range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const auto first = plain_number(low);
  const auto last = dash == std::string_view::npos ? first : plain_number(range.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  if (static_cast<std::size_t>(*last - *first) >= kMostHosts - numbers.size()) return false;
  for (long long number = *first; number <= *last; ++number) {
    std::string digits = std::to_string(number);
    if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
    numbers.push_back(std::move(digits));
  }
  return true;
}

std::optional<std::vector<std::string>> numbers_between_brackets(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string_view range : split(ranges, ',')) {
    if (numbers.size() == kMostHosts || !add_range(range, numbers)) return std::nullopt;
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

// Each name with each ending; the endings change fastest.
std::optional<std::vector<std::string>> combine(const std::vector<std::string>& names,
                                                std::string_view middle,
                                                const std::vector<std::string>& endings) {
  if (names.size() * endings.size() > kMostHosts) return std::nullopt;
  std::vector<std::string> combined;
  combined.reserve(names.size() * endings.size());
  for (const std::string& name : names) {
    for (const std::string& ending : endings) {
      combined.push_back(std::string(name).append(middle).append(ending));
    }
  }
  return combined;
}

std::optional<std::vector<std::string>> expand_entry(std::string_view entry) {
  if (entry.find('[') == std::string_view::npos) return std::vector{std::string(entry)};
  std::optional<std::vector<std::string>> names{{""}};
  for (int brackets = 0; names && !entry.empty(); ++brackets) {
    const std::size_t open = entry.find('[');
    // Text after the last bracket: Slurm refuses it too.
    if (open == std::string_view::npos || brackets == kMostBrackets) return std::nullopt;
    const std::size_t close = entry.find(']');
    const auto numbers = numbers_between_brackets(entry.substr(open + 1, close - open - 1));
    if (!numbers) return std::nullopt;
    names = combine(*names, entry.substr(0, open), *numbers);
    entry.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

std::optional<std::vector<std::string>> expand_node_list(std::string_view list) {
  const auto entries = entries_of(list);
  if (!entries || entries->empty()) return std::nullopt;
  std::vector<std::string> nodes;
  for (const std::string_view entry : *entries) {
    auto names = expand_entry(entry);
    if (!names || names->size() > kMostHosts - nodes.size()) return std::nullopt;
    std::move(names->begin(), names->end(), std::back_inserter(nodes));
  }
  return nodes;
}

std::optional<std::vector<int>> expand_task_counts(std::string_view counts) {
  std::vector<int> tasks;
  for (const std::string_view entry : split(counts, ',')) {
    const std::size_t open = entry.find("(x");
    const auto count = plain_number(entry.substr(0, open));
    auto times = std::optional(1LL);
    if (open != std::string_view::npos) {
      if (!entry.ends_with(')')) return std::nullopt;
      times = plain_number(entry.substr(open + 2, entry.size() - open - 3));
    }
    if (!count || *count > std::numeric_limits<int>::max() || !times) return std::nullopt;
    if (*times > static_cast<long long>(kMostHosts - tasks.size())) return std::nullopt;
    tasks.insert(tasks.end(), static_cast<std::size_t>(*times), static_cast<int>(*count));
  }
  if (tasks.empty()) return std::nullopt;
  return tasks;
}

}  // namespace paddle_launch
