// SPDX-License-Identifier: Apache-2.0
// What --help and --version print, made from the option table.
#pragma once

#include <string>
#include <string_view>

namespace paddle_launch {

// One line, no newline: "usage: fleetrun [options] training_script [args ...]".
std::string usage_line(std::string_view program);

std::string help_text(std::string_view program);
std::string version_text();

}  // namespace paddle_launch
