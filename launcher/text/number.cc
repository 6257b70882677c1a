// SPDX-License-Identifier: Apache-2.0
// See number.h.
#include "launcher/text/number.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

namespace paddle_launch {
namespace {

constexpr std::size_t kDecimals = 3;
constexpr long long kThousand = 1000;

bool only_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<long long> parse_whole_number(std::string_view text) {
  long long number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<long long> parse_thousandths(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() && decimals.empty()) return std::nullopt;
  if (!only_digits(whole) || !only_digits(decimals)) return std::nullopt;

  std::string padded(decimals.substr(0, kDecimals));
  padded.resize(kDecimals, '0');
  const auto units = whole.empty() ? std::optional(0LL) : parse_whole_number(whole);
  if (!units || *units > std::numeric_limits<long long>::max() / kThousand - 1) return std::nullopt;
  return *units * kThousand + parse_whole_number(padded).value_or(0);
}

}  // namespace paddle_launch
