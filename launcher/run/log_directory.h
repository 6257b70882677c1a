// SPDX-License-Identifier: Apache-2.0
// The logs: opened in the guard, followed by the console process, read and completed after the end,
// aside and with a deadline. The launcher itself never touches them: a dead disk would hold it.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
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

// --log_dir=auto: points `latest` beside the directory to it, in one step. What is there and no
// link of ours is left alone. Returns what went wrong.
std::optional<std::string> point_latest_to(const std::string& directory);

// The guard's lock on a log: two jobs that write into one file would take each other's lines for
// their own. A lock of the process (fcntl), so that no trainer inherits it, the kernel names who
// has it, NFS knows it, and it is gone with the guard.

// The name of a guard that stops its processes, as whoever waits for its logs sees it.
constexpr const char* kStoppingGuard = "pl-guard-stops";

enum class LockTry { Ours, Taken, NotSupported };

// `grace`: how long we may take to stop; whoever finds the log taken learns it. Closing any
// descriptor of the file gives the lock back.
LockTry try_lock(int log, std::chrono::milliseconds grace);

struct LogHolder {
  std::string text;         // "pid 4711 (paddle-launch train.py), since 2022-08-17 13:05:02"
  bool may_let_go = false;  // it stops, or cannot be seen from here
  std::chrono::milliseconds grace{0};  // the time that it gives its processes
};

// None: nobody, by now.
std::optional<LogHolder> holder_of(int log);

}  // namespace paddle_launch
