// SPDX-License-Identifier: Apache-2.0
// Every option of the launcher, once: the parser, the help text, the shell completions and the
// environment variables that serve as defaults are all made from this table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/value_rule.h"

namespace paddle_launch {

enum class OptionGroup { Base, Collective, ParameterServer, Elastic, Launcher };

struct OptionGroupTitle {
  OptionGroup group;
  std::string_view title;
};

// Where an option stands on the page that --help shows. The others are in --help=all alone.
enum class Everyday { No, Cards, Nodes, Servers, Elastic, Console, Look };

struct Option {
  std::string_view names;  // all spellings with commas; the first without its dashes is the key
  OptionGroup group;
  std::string_view metavar;  // empty: takes no value
  ValueRule rule;
  std::string_view default_text;  // empty: none that is worth a word
  std::string_view variables;     // its environment variables with commas; the first one set wins
  std::string_view help;          // whole sentences; see summary_of
  Everyday everyday = Everyday::No;
};

std::span<const Option> all_options();
std::span<const OptionGroupTitle> option_groups();  // in the order of the enum

std::string_view key_of(const Option& option);
std::vector<std::string_view> names_of(const Option& option);
std::vector<std::string_view> variables_of(const Option& option);

// The first sentence of its help without the full stop: says enough where there is a line only.
std::string_view summary_of(const Option& option);

// Whether Paddle's own launchers have it.
bool is_paddles(const Option& option);

// By any of its spellings, dashes included. No abbreviations.
const Option* find_option(std::string_view name);

// What the option means when it stands alone; such an option takes its value only after "=".
std::optional<std::string> value_when_bare(const Option& option);

// What else such an option may say: "json" of --status[=json].
std::vector<std::string> words_after_equals(const Option& option);

}  // namespace paddle_launch
