// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/printable.h"

#include <algorithm>

#include <fmt/format.h>

#include "launcher/text/utf8.h"

namespace paddle_launch {
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

}  // namespace paddle_launch
