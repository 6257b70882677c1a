// SPDX-License-Identifier: Apache-2.0
// The file of --report: tried before anything starts, written when everything has ended.
#pragma once

#include <optional>
#include <string>

namespace paddle_launch {

// Throws UsageError where the report could not be written.
void check_report_file(const std::string& path);

// Whole or not at all, within a few seconds. The text is what failed; none: it is there.
std::optional<std::string> write_report_file(const std::string& path, const std::string& content);

}  // namespace paddle_launch
