// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "launcher/text/number_ranges.h"

namespace paddle_launch {
namespace {

constexpr int kMostCpus = 1 << 20;  // far above any kernel's; a wrong file must not fill the memory
constexpr std::string_view kBlanks = " \t\n";

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0 || number >= kMostCpus) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

void sort_and_thin(std::vector<int>& cpus) {
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::vector<int> cpus;
  if (text.empty()) return cpus;
  do {
    const auto first = take_number(text);
    if (!first) return std::nullopt;
    const auto last = take(text, '-') ? take_number(text) : first;
    if (!last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  } while (take(text, ','));
  if (!text.empty()) return std::nullopt;
  sort_and_thin(cpus);
  return cpus;
}

std::string format_cpu_list(std::vector<int> cpus) {
  sort_and_thin(cpus);
  return number_ranges(std::move(cpus));
}

}  // namespace paddle_launch
