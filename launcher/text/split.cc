// SPDX-License-Identifier: Apache-2.0
// See split.h.
#include "launcher/text/split.h"

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

}  // namespace paddle_launch
