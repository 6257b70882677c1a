// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/columns.h"

#include <algorithm>

namespace paddle_launch {
namespace {

constexpr std::string_view kEllipsis = "…";

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// From U+2E80 on nearly everything is wide: three bytes from E2 BA, and all of four bytes.
std::size_t width_of(std::string_view character) {
  return character.size() == 4 || (character.size() == 3 && character >= "\xE2\xBA\x80") ? 2 : 1;
}

std::string_view first_character(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && continues(text[size])) ++size;
  return text.substr(0, size);
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    sum += width_of(character);
    text.remove_prefix(character.size());
  }
  return sum;
}

std::string cut_to_columns(std::string_view text, std::size_t most) {
  if (columns(text) <= most) return std::string(text);
  if (most == 0) return "";
  std::size_t used = 1;  // the ellipsis
  std::string cut;
  for (;;) {
    const std::string_view character = first_character(text);
    used += width_of(character);
    if (used > most) return cut.append(kEllipsis);
    cut += character;
    text.remove_prefix(character.size());
  }
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text).append(width - std::min(width, columns(text)), ' ');
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i + 1 < row.size() ? padded(row[i], widths[i]) + "  " : row[i];
    }
    text += '\n';
  }
  return text;
}

}  // namespace paddle_launch
