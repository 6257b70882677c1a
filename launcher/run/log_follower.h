// SPDX-License-Identifier: Apache-2.0
// Follows growing logs. While bytes come, a timer of the caller's asks for them; a quiet log is
// watched with inotify, so that nobody wakes for nothing.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/role.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

struct FollowedLog {
  ProcessName process{};
  std::size_t index = 0;  // of the process, in the plan
  std::string path{};
  UniqueFd file{};           // open for reading, when it is followed
  off_t from = 0;            // where this run begins
  std::string start_line{};  // our own first line there: not shown
};

class LogFollower {
 public:
  using Show = std::function<void(const ProcessName& process, std::string_view bytes)>;

  explicit LogFollower(std::vector<FollowedLog> logs);

  // Shows what came since the last call, at most one chunk a log. False: nothing came.
  bool copy_some(const Show& show);
  // Shows the rest, and follows nothing any more.
  void copy_to_the_end(const Show& show);

  // Some log must be asked for bytes again soon: it is not watched, or cannot be.
  bool some_log_is_active() const;
  bool can_watch() const { return !inotify_failed_; }
  bool has_watched() const { return static_cast<bool>(inotify_); }
  int notifications() const { return inotify_.get(); }
  void take_notifications();

 private:
  struct Followed {
    FollowedLog log;
    off_t at = 0;
    bool start_line_pending = true;
    int watch = -1;  // inotify watch: set while the log is quiet
    int quiet_rounds = 0;
  };

  bool copy(Followed& followed, const Show& show);
  static bool skip_start_line(Followed& followed, off_t size);
  void become_quiet(Followed& followed, const Show& show);
  void follow_again(Followed& followed);

  std::vector<Followed> followed_;
  UniqueFd inotify_;
  bool inotify_failed_ = false;
  std::string buffer_;
};

}  // namespace paddle_launch
