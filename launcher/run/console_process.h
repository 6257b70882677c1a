// SPDX-License-Identifier: Apache-2.0
// Inside the console process: follows logs, writes stdout and stderr, and may block as it likes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "launcher/os/unique_fd.h"
#include "launcher/run/console.h"
#include "launcher/run/line_printer.h"

namespace paddle_launch {

// First byte of a message to the console. The answers are the same bytes.
constexpr char kConsoleSay = 's';
constexpr char kConsoleDrain = 'd';
constexpr char kConsoleEnd = 'e';
// The answer to kConsoleEnd when ending will take a moment.
constexpr char kConsoleEndsLater = 'l';

class ConsoleProcess {
 public:
  ConsoleProcess(const ConsoleSettings& settings, std::vector<FollowedLog> logs, UniqueFd socket,
                 pid_t launcher);
  void run();

 private:
  struct Follower {
    FollowedLog log;
    off_t at = 0;
    bool start_line_pending = true;
    int watch = -1;  // inotify watch: set while the file is quiet
    int quiet_rounds = 0;
  };

  void leave_the_launchers_world(pid_t launcher);
  bool take_messages();  // false: end
  void say(std::string_view text);
  void answer(char kind);
  void drain();

  bool copy_all();  // true: something was copied
  bool copy(Follower& follower);
  bool skip_start_line(Follower& follower, off_t size);
  void show(Follower& follower, std::string_view bytes);
  void write_out(std::string_view bytes);

  void become_quiet(Follower& follower);
  void follow_again(Follower& follower);
  void take_notifications();
  bool some_log_is_active() const;
  int poll_timeout() const;

  ConsoleSettings settings_;
  std::vector<Follower> followers_;
  UniqueFd socket_;
  UniqueFd inotify_;
  bool inotify_failed_ = false;
  LinePrinter lines_;
  std::string buffer_;
  bool stdout_works_ = true;
  bool at_line_start_ = true;
};

}  // namespace paddle_launch
