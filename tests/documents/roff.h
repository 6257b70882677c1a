// SPDX-License-Identifier: Apache-2.0
// As much of roff as our manual page uses, as plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// A paragraph of .TP, fonts removed and lines joined: "--log_dir DIR", "Directory for …".
struct ManualEntry {
  std::string tag;
  std::string body;
};

// The lines of a section (.SH), without its title.
std::vector<std::string_view> section_of(std::string_view page, std::string_view title);

std::vector<ManualEntry> entries_of(const std::vector<std::string_view>& lines);

// All words of the page.
std::string plain_text(std::string_view page);

}  // namespace paddle_launch
