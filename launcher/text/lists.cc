// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/lists.h"

#include <algorithm>
#include <cstddef>

namespace paddle_launch {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string number_ranges(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  // One may be the lowest int and the next the highest: nothing is added to a number.
  const auto are_neighbours = [](int one, int next) { return one < next && next - 1 == one; };
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && are_neighbours(numbers[last], numbers[last + 1])) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[first]);
    if (last > first) text += '-' + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace paddle_launch
