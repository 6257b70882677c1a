// SPDX-License-Identifier: Apache-2.0
// What --help and --version print, made from the option table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace paddle_launch {

struct ExitStatus {
  std::string_view status;
  std::string_view meaning;
  std::string_view word;  // the meaning in brief
};

std::span<const ExitStatus> exit_statuses();

// One line, no newline: "usage: fleetrun [options] training_script [args ...]".
std::string usage_line(std::string_view program);

std::string everyday_help(std::string_view program);  // --help: a page
std::string full_help(std::string_view program);      // --help=all
std::string version_text();

}  // namespace paddle_launch
