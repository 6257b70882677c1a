// SPDX-License-Identifier: Apache-2.0
// Names of options in a text, and those that the parser knows.
#pragma once

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "launcher/cli/help_text.h"
#include "launcher/cli/option_table.h"

namespace paddle_launch {

using Names = std::set<std::string>;

inline std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Names found_in(const std::string& text, const std::string& pattern) {
  const std::regex name(pattern);
  Names names;
  for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end; ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

// Whether the word is there by itself, and not as a part of a longer one.
inline bool has_word(std::string_view text, std::string_view word) {
  constexpr std::string_view kOfWords =
      "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || kOfWords.find(text[at - 1]) == text.npos;
    const bool ends = end == text.size() || kOfWords.find(text[end]) == text.npos;
    if (begins && ends) return true;
  }
  return false;
}

// "--log_dir", also in "--log_dir=log"; not the "-dir" of another word.
inline Names long_options_in(const std::string& text) {
  return found_in(text, "(?:^|[^-\\w])(--[A-Za-z][-\\w]*)");
}

inline Names all_names() {
  Names names;
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) names.emplace(name);
  }
  return names;
}

inline Names without(Names names, const Names& others) {
  for (const std::string& other : others) names.erase(other);
  return names;
}

// Each by itself: 126 and 127 share their words in the help.
inline Names all_exit_statuses() {
  Names names;
  for (const ExitStatus& status : exit_statuses()) {
    names.merge(found_in(std::string(status.status), "([\\w+]+)"));
  }
  names.erase("or");
  return names;
}

}  // namespace paddle_launch
