// SPDX-License-Identifier: Apache-2.0
// --log_dir=auto: a directory for each job, below `log`, with the link `latest` beside it.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

constexpr std::string_view kNamedLogs = "auto";
constexpr std::string_view kParentOfNamedLogs = "log";

// "20220817-130502-train": when it was started, and what.
std::string name_for_logs(const std::string& script, std::time_t now);
// One name comes from another node, and is used as a path.
bool is_name_for_logs(std::string_view name);

// Makes the directory, and nobody else has it: where the name is taken, "-2" or more stands behind
// it. Returns the name. Throws UsageError, or LaunchError where the disk does not answer; it is
// asked aside.
std::string make_named_logs(const std::string& parent, const std::string& wish);

// Points `latest` beside the directory to it, in one step. What is there and no link of ours is
// left alone. Returns what went wrong.
std::optional<std::string> point_latest_to(const std::string& directory);

}  // namespace paddle_launch
