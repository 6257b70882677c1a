// SPDX-License-Identifier: Apache-2.0
// Inside the console process: follows logs, writes stdout and stderr, and may block as it likes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/frames.h"
#include "launcher/os/unique_fd.h"
#include "launcher/run/console.h"
#include "launcher/run/line_printer.h"
#include "launcher/run/log_follower.h"

namespace paddle_launch {

class ConsoleProcess {
 public:
  ConsoleProcess(const ConsoleSettings& settings, std::vector<FollowedLog> logs,
                 FramePipe launcher);
  void run();

 private:
  void read_messages();
  bool carry_out_order();
  void say(std::string_view text);
  void follow(std::string_view bytes);
  void answer(ConsoleWord word) { launcher_.push(word, ""); }
  void drain();

  void show(const ProcessName& process, std::string_view bytes);
  void show_unfinished_lines(bool all);
  void write_out(std::string_view bytes);
  void wait_for_reader();
  void stop_writing(int error);

  int poll_timeout() const;

  ConsoleSettings settings_;
  std::vector<FollowedLog> unopened_;
  LogFollower logs_{{}};
  FramePipe launcher_;
  UniqueFd stdout_;  // none: a file or a socket, written to as it is
  LinePrinter lines_;
  std::string prefixed_;
  std::optional<ConsoleWord> order_;  // Drain or End
  bool launcher_is_gone_ = false;
  bool stdout_works_ = true;
  bool at_line_start_ = true;
};

}  // namespace paddle_launch
