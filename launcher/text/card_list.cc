// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/card_list.h"

#include <charconv>
#include <system_error>

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

}  // namespace paddle_launch
