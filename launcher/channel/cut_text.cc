// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/cut_text.h"

namespace paddle_launch {
namespace {

// More of them are not UTF-8, and are cut anywhere.
constexpr std::size_t kMostContinuationBytes = 3;
constexpr unsigned kContinuationMask = 0xc0;
constexpr unsigned kContinuation = 0x80;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & kContinuationMask) == kContinuation;
}

}  // namespace

std::string_view start_of_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  for (std::size_t back = 0; back <= kMostContinuationBytes && back <= most; ++back) {
    if (!continues_character(text[most - back])) return text.substr(0, most - back);
  }
  return text.substr(0, most);
}

std::string_view end_of_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t start = text.size() - most;
  const std::size_t line_end = text.find('\n', start - 1);
  if (line_end != std::string_view::npos && line_end + 1 < text.size())
    return text.substr(line_end + 1);
  for (std::size_t skip = 0; skip <= kMostContinuationBytes && skip < most; ++skip) {
    if (!continues_character(text[start + skip])) return text.substr(start + skip);
  }
  return text.substr(start);
}

}  // namespace paddle_launch
