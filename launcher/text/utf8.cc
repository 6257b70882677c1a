// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/utf8.h"

#include <algorithm>

#include <fmt/format.h>

namespace paddle_launch {

Utf8Character first_utf8_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  auto code = static_cast<char32_t>(lead & (0xFFU >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (next & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, length};
}

namespace {

bool is_control(char32_t code) {
  return (code < 0x20 && code != U'\n' && code != U'\t') || (code >= 0x7F && code < 0xA0);
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto [code, length] = first_utf8_character(bytes);
    const std::string_view character = bytes.substr(0, std::max<std::size_t>(length, 1));
    if (length != 0 && !is_control(code)) {
      text += character;
    } else {
      for (const char byte : character)
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    bytes.remove_prefix(character.size());
  }
  return text;
}

std::string one_line(std::string_view bytes) {
  std::string text = printable(bytes);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

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
