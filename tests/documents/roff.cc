// SPDX-License-Identifier: Apache-2.0
// See roff.h.
#include "tests/documents/roff.h"

#include <cstddef>
#include <regex>

#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

std::string without_escapes(const std::string& text) {
  static const std::regex invisible(R"(\\f[A-Z]|\\:|\\\[u[0-9A-F]+\])");
  static const std::regex quotation_mark(R"(\\\([lr]q)");
  static const std::regex other(R"(\\(.))");
  if (text.find('\\') == std::string::npos) return text;
  const std::string visible = std::regex_replace(text, invisible, "");
  return std::regex_replace(std::regex_replace(visible, quotation_mark, "\""), other, "$1");
}

std::vector<std::string> arguments(std::string_view text) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}

// A line of text, or the words of a macro that changes the font; else nothing.
std::string plain_line(std::string_view line) {
  if (!line.starts_with('.')) return without_escapes(std::string(line));
  const std::string_view macro = line.substr(1, line.find(' ') - 1);
  const bool one_font = macro == "B" || macro == "I" || macro == "SH" || macro == "SS";
  const bool two_fonts =
      macro.size() == 2 && macro.find_first_not_of("BIR") == std::string_view::npos;
  if (!one_font && !two_fonts) return {};
  std::string text;
  for (const std::string& word : arguments(line.substr(macro.size() + 2))) {
    if (one_font && !text.empty()) text += ' ';
    text += word;
  }
  return without_escapes(text);
}

void append_line(std::string& text, std::string_view line) {
  const std::string plain = plain_line(line);
  if (plain.empty()) return;
  if (!text.empty()) text += ' ';
  text += plain;
}

}  // namespace

std::vector<std::string_view> section_of(std::string_view page, std::string_view title) {
  std::vector<std::string_view> lines;
  bool inside = false;
  for (const std::string_view line : split(page, '\n')) {
    if (line.starts_with(".SH ")) {
      inside = line.substr(4) == title;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

std::vector<ManualEntry> entries_of(const std::vector<std::string_view>& lines) {
  std::vector<ManualEntry> entries;
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == ".TP" && i + 1 < lines.size()) {
      entries.push_back({plain_line(lines[++i]), ""});
      inside = true;
    } else if (lines[i].starts_with(".SS ") || lines[i] == ".PP") {
      inside = false;
    } else if (inside) {
      append_line(entries.back().body, lines[i]);
    }
  }
  return entries;
}

std::string plain_text(std::string_view page) {
  std::string text;
  for (const std::string_view line : split(page, '\n')) append_line(text, line);
  return text;
}

}  // namespace paddle_launch
