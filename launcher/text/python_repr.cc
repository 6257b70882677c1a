// SPDX-License-Identifier: Apache-2.0
// See python_repr.h.
#include "launcher/text/python_repr.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Separators, format characters and private use, which str.isprintable() denies. Code points that
// Unicode has not given away yet are left out: they change from one Python to the next.
constexpr CodeRange kUnprintable[] = {
    {0x00, 0x1F},     {0x7F, 0xA0},     {0xAD, 0xAD},     {0x1680, 0x1680},    {0x180E, 0x180E},
    {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},    {0xE000, 0xF8FF},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xF0000, 0x10FFFF},
};

bool is_printable(char32_t code) {
  return std::none_of(std::begin(kUnprintable), std::end(kUnprintable), [code](CodeRange range) {
    return code >= range.first && code <= range.last;
  });
}

std::string escaped(char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  if (number <= 0xFF) return fmt::format("\\x{:02x}", number);
  if (number <= 0xFFFF) return fmt::format("\\u{:04x}", number);
  return fmt::format("\\U{:08x}", number);
}

std::string shown(char32_t code, std::string_view bytes, char quote) {
  if (code == U'\n') return "\\n";
  if (code == U'\r') return "\\r";
  if (code == U'\t') return "\\t";
  if (code == U'\\') return "\\\\";
  if (code == static_cast<char32_t>(quote)) return std::string("\\") + quote;
  if (!is_printable(code)) return escaped(code);
  return std::string(bytes);
}

}  // namespace

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string result(1, quote);
  while (!text.empty()) {
    const auto [code, length] = first_utf8_character(text);
    if (length == 0) {
      result += escaped(0xDC00 + static_cast<unsigned char>(text.front()));
    } else {
      result += shown(code, text.substr(0, length), quote);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result + quote;
}

std::string python_repr(const std::vector<std::string>& list) {
  std::string result = "[";
  for (const std::string& text : list) {
    if (result.size() > 1) result += ", ";
    result += python_repr(text);
  }
  return result + "]";
}

}  // namespace paddle_launch
