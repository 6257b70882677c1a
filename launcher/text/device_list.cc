// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/device_list.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

// Quotes arrive from job files in which the shell did not take them off.
constexpr std::string_view kAround = " \t\r\n\"'";

std::string strip(std::string_view entry) {
  const auto first = entry.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return std::string(entry.substr(first, entry.find_last_not_of(kAround) - first + 1));
}

}  // namespace

std::vector<std::string> split_card_list(std::string_view list) {
  std::vector<std::string> entries;
  for (;;) {
    const auto comma = list.find(',');
    entries.push_back(strip(list.substr(0, comma)));
    if (comma == std::string_view::npos) return entries;
    list.remove_prefix(comma + 1);
  }
}

std::optional<CardName> parse_card_name(std::string_view entry) {
  if (entry.size() > 4 && entry.starts_with("GPU-")) {
    return CardName{CardNameForm::Uuid, std::string(entry)};
  }
  if (entry.size() > 4 && entry.starts_with("MIG-")) {
    return CardName{CardNameForm::Mig, std::string(entry)};
  }
  int number = 0;
  const char* const end = entry.data() + entry.size();
  const auto [stopped, error] = std::from_chars(entry.data(), end, number);
  if (error != std::errc{} || stopped != end || number < 0) return std::nullopt;
  return CardName{CardNameForm::Number, std::to_string(number)};
}

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

namespace {

constexpr std::size_t kDomainDigits = 4;

}  // namespace

std::string normal_pci_bus(std::string_view address) {
  std::string normal(address);
  std::transform(normal.begin(), normal.end(), normal.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::count(normal.begin(), normal.end(), ':') == 1) normal.insert(0, "0000:");
  while (normal.find(':') != std::string::npos && normal.find(':') > kDomainDigits &&
         normal.front() == '0') {
    normal.erase(0, 1);
  }
  return normal;
}

}  // namespace paddle_launch
