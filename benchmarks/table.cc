// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paddle_launch {

void Table::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void Table::add_without_numbers(std::vector<std::string> cells, const std::string& text) {
  cells.push_back(text);
  cells.resize(heads_.size());
  add(std::move(cells));
}

std::string Table::markdown() const {
  std::string text = fmt::format("| {} |\n|", fmt::join(heads_, " | "));
  for (size_t column = 0; column < heads_.size(); ++column) text += " --- |";
  text += "\n";
  for (const auto& row : rows_) text += fmt::format("| {} |\n", fmt::join(row, " | "));
  return text;
}

std::string no_number(const Tool& tool, const Measurement* numbers) {
  if (!tool.installed()) return "not installed";
  if (numbers == nullptr) return "not run";
  if (numbers->failures == 0) return {};
  return fmt::format("**failed** ({} of {}): {}", numbers->failures, numbers->runs,
                     numbers->failure);
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

std::string spread_milliseconds(const std::vector<double>& seconds) {
  const auto [low, high] = std::minmax_element(seconds.begin(), seconds.end());
  return fmt::format("{:.1f}..{:.1f}", *low * 1e3, *high * 1e3);
}

std::string ratio(double value, const Measurement* to) {
  if (to == nullptr || to->failures > 0) return "-";
  const double other = median(to->seconds);
  return other > 0 ? fmt::format("{:.2f}", value / other) : "-";
}

}  // namespace paddle_launch
