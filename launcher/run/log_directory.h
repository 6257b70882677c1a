// SPDX-License-Identifier: Apache-2.0
// The log directory: made, checked and opened in the guard, followed by the console process, read
// and completed after the end, aside and with a deadline. The launcher itself never touches it: a
// dead disk would hold it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/job/plan.h"
#include "launcher/os/side_process.h"
#include "launcher/os/unique_fd.h"
#include "launcher/run/log_follower.h"

namespace paddle_launch {

// Whether the last line of an open log has no end yet. False where it may not be read.
bool ends_unfinished(int log);

// Makes the directory where it is missing. Throws UsageError when no log could be written there.
void prepare_log_directory(const std::string& directory);

// To append to, and to read where that is allowed. Neither a symbolic link nor a pipe or device
// that somebody put in its place is opened. Throws UsageError or LaunchError.
UniqueFd open_log(const std::string& path);

// Which logs the console shows, of the followed process or of all here.
std::vector<FollowedLog> followed_logs(const ProcessPlan& plan,
                                       const std::vector<std::string>& start_lines, bool all);
// For the console, once the log is there.
UniqueFd open_to_follow(const std::string& path);

// The last bytes of a log, and when something was last written to it.
struct LogEnd {
  std::string bytes;
  std::int64_t written_ns = 0;  // the file's modification time
  std::int64_t from = 0;        // how many bytes stand before these

  // Those that were there when the log had this size.
  std::string_view when_it_had(std::int64_t size) const;
};

// The ends of several logs, in the same order; nothing where one cannot be read. The whole is empty
// when the file system does not answer.
std::vector<std::optional<LogEnd>> read_log_ends(
    const std::vector<std::string>& paths, std::chrono::milliseconds patience = kPatienceWithDisk);

// Appends a line to each log, on a line of its own. False: at least one could not be written.
bool append_to_logs(const std::vector<std::pair<std::string, std::string>>& path_and_line);

}  // namespace paddle_launch
