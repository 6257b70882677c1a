// SPDX-License-Identifier: Apache-2.0
// Writes a shell completion: the template beside this file, with the launcher's option table in it.
//   write_completions TEMPLATE OUTPUT
// A line of the template that is @name@ alone becomes the text of that name.
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "launcher/cli/option_table.h"
#include "launcher/cli/value_rule.h"

namespace paddle_launch {
namespace {

enum class Follows { Nothing, WordAfterEquals, OneOfWords, File, Directory, Anything };

Follows follows(const Option& option) {
  if (!words_after_equals(option).empty()) return Follows::WordAfterEquals;
  if (option.metavar.empty()) return Follows::Nothing;
  if (!words_of(option.rule).empty()) return Follows::OneOfWords;
  if (option.metavar == "DIR") return Follows::Directory;
  if (option.metavar == "FILE" || option.metavar == "PATH") return Follows::File;
  return Follows::Anything;
}

bool takes_next_word(const Option& option) {
  const Follows kind = follows(option);
  return kind != Follows::Nothing && kind != Follows::WordAfterEquals;
}

std::string replaced(std::string text, std::string_view old, std::string_view by) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at)) {
    text.replace(at, old.size(), by);
    at += by.size();
  }
  return text;
}

std::string words_in(const Option& option) {
  return fmt::format("{}", fmt::join(words_of(option.rule), " "));
}

// -- bash

std::string bash_kind(const Option& option) {
  switch (follows(option)) {
    case Follows::Nothing:
      return "kind=none";
    case Follows::WordAfterEquals:
      return fmt::format("kind=after_equals words='{}'", words_in(option));
    case Follows::OneOfWords:
      return fmt::format("kind=words words='{}'", words_in(option));
    case Follows::File:
      return "kind=file";
    case Follows::Directory:
      return "kind=directory";
    case Follows::Anything:
      break;
  }
  return "kind=anything";
}

std::string bash_options() {
  std::string text;
  for (const Option& option : all_options()) {
    text += fmt::format("    {}) {} ;;\n", fmt::join(names_of(option), " | "), bash_kind(option));
  }
  return text;
}

std::string bash_names() {
  std::string text;
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      text += fmt::format("        {}\n", name);
      for (const std::string& word : words_after_equals(option)) {
        text += fmt::format("        {}={}\n", name, word);
      }
    }
  }
  return text;
}

// -- zsh

std::string zsh_action(const Option& option) {
  switch (follows(option)) {
    case Follows::WordAfterEquals:
    case Follows::OneOfWords:
      return fmt::format("({})", words_in(option));
    case Follows::File:
      return "_files";
    case Follows::Directory:
      return "_files -/";
    default:
      return " ";
  }
}

// The part of a specification behind the name and the description.
std::string zsh_value(const Option& option) {
  const Follows kind = follows(option);
  if (kind == Follows::Nothing) return "";
  const bool optional = kind == Follows::WordAfterEquals;
  const std::string name = replaced(std::string(option.metavar), ":", "\\:");
  return fmt::format("{}{}:{}", optional ? "::" : ":", optional ? "word" : name,
                     zsh_action(option));
}

std::string zsh_spec(const Option& option, std::string_view name) {
  std::string_view joint = takes_next_word(option) ? "=" : "";
  if (follows(option) == Follows::WordAfterEquals) joint = "=-";
  if (!name.starts_with("--")) joint = "";
  std::string description(summary_of(option));
  for (const std::string_view mark : {"[", "]"}) {
    description = replaced(description, mark, fmt::format("\\{}", mark));
  }
  return fmt::format("{}{}[{}]{}", name, joint, description, zsh_value(option));
}

std::string zsh_options() {
  std::string text;
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      std::string spec = zsh_spec(option, name);
      if (name == "-m") spec = "(-)" + spec + ":*::argument of the module:_files";
      if (name == "-h") spec = "(-)-h[" + std::string(summary_of(option)) + "]";
      text += fmt::format("  '{}' \\\n", replaced(spec, "'", "'\\''"));
    }
  }
  return text;
}

// -- fish

std::string fish_value(const Option& option) {
  switch (follows(option)) {
    case Follows::Nothing:
      return "";
    case Follows::WordAfterEquals:
      return fmt::format(" -f -a '{}'", words_in(option));
    case Follows::OneOfWords:
      return fmt::format(" -x -a '{}'", words_in(option));
    case Follows::File:
      return " -r -F";
    case Follows::Directory:
      return " -x -a '(__fish_complete_directories)'";
    case Follows::Anything:
      break;
  }
  return " -x";
}

std::string fish_options() {
  std::string text;
  for (const Option& option : all_options()) {
    std::string names;
    for (const std::string_view name : names_of(option)) {
      names += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                      : fmt::format(" -s {}", name.substr(1));
    }
    const std::string summary = replaced(std::string(summary_of(option)), "'", "\\'");
    text += fmt::format("complete -c paddle-launch -n __paddle_launch_before_script{}{} -d '{}'\n",
                        names, fish_value(option), summary);
  }
  return text;
}

std::string fish_with_value() {
  std::vector<std::string_view> names;
  for (const Option& option : all_options()) {
    if (!takes_next_word(option)) continue;
    for (const std::string_view name : names_of(option)) names.push_back(name);
  }
  return fmt::format("    {}\n", fmt::join(names, " \\\n    "));
}

const std::map<std::string, std::string (*)()> kTexts = {
    {"@bash_options@", bash_options},       {"@bash_names@", bash_names},
    {"@zsh_options@", zsh_options},         {"@fish_options@", fish_options},
    {"@fish_with_value@", fish_with_value},
};

void write(const char* source, const char* target) {
  std::ifstream in(source);
  std::ofstream out(target);
  for (std::string line; std::getline(in, line);) {
    const auto text = kTexts.find(line);
    out << (text == kTexts.end() ? line + "\n" : text->second());
  }
  out.close();
  if (!in.eof() || !out)
    throw std::runtime_error(fmt::format("cannot make {} from {}", target, source));
}

}  // namespace
}  // namespace paddle_launch

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: write_completions TEMPLATE OUTPUT");
  paddle_launch::write(argv[1], argv[2]);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
