// SPDX-License-Identifier: Apache-2.0
// The command line as it was typed: CLI11 parses argv up to the training script. What follows the
// script belongs to it untouched, even where it looks like one of our options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/given_options.h"

namespace paddle_launch {

struct TypedOption {
  const Option* option = nullptr;
  std::string name;                 // the spelling that was typed
  std::vector<std::string> values;  // not checked yet; the last one counts

  bool operator==(const TypedOption&) const = default;
};

struct TypedLine {
  std::vector<TypedOption> options;  // each spelling once, in the table's order
  std::vector<std::string> notices;  // which abbreviations were taken for what
  std::string script;                // empty: none was named
  bool is_module = false;
  std::vector<std::string> script_args;
  bool asks_help = false;
  bool asks_full_help = false;  // --help=all
  bool asks_version = false;

  bool operator==(const TypedLine&) const = default;
};

// Takes '-' for '_' inside the names of options, and what begins the name of one option of Paddle's
// alone for that. Throws UsageError for an option that is not known, or that lacks its value.
TypedLine read_typed_line(const std::vector<std::string>& argv);

// Throws UsageError for a value that is refused, and for two spellings of one option. An option
// given several times with different values counts as it was given last, with a warning.
GivenOptions accept_typed(const std::vector<TypedOption>& options,
                          std::vector<std::string>& warnings);

// "log-dir" as the options spell it.
std::string with_underscores(std::string_view name);

// Names the modern spelling, the options that begin like it, or the nearest one.
std::string unknown_option_text(std::string_view name);

}  // namespace paddle_launch
