// SPDX-License-Identifier: Apache-2.0
// Cuts argv at the training script: what stands before it is the launcher's, what follows belongs
// to the script untouched, even where it looks like one of our options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// Names the modern spelling, the options that begin like it, or the nearest one.
std::string unknown_option_text(std::string_view name);

struct CutCommandLine {
  std::vector<std::string> own;  // the launcher's options: name, value, name, value, …
  std::string script;            // empty: none was named
  bool is_module = false;
  std::vector<std::string> script_args;
  bool asks_help = false;
  bool asks_full_help = false;  // --help=all
  bool asks_version = false;

  bool operator==(const CutCommandLine&) const = default;
};

// Throws UsageError for an option that is not known, or that lacks its value.
CutCommandLine cut_command_line(const std::vector<std::string>& argv);

}  // namespace paddle_launch
