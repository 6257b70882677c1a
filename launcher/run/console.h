// SPDX-License-Identifier: Apache-2.0
// The launcher's end of the console process, which copies the followed logs to stdout and writes
// our own lines to stderr. A terminal that blocks, a pipe that nobody reads or a dead file system
// stops that process and never the one that supervises. What the two say to each other:
//
//   launcher   Follow            where in each log this run begins, once the logs are there
//   launcher   Say Say …         our own lines, for stderr
//   launcher   Drain             the trainers are gone: copy what is left of the logs
//   console    Drain             all of it is on stdout
//   launcher   Say …, End        the last words
//   console    End or EndsLater  all is said; the process ends, now or in a moment
//
// Nothing follows Drain or End before it is answered. docs/architecture.md, "The processes".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/frames.h"
#include "launcher/os/signals.h"
#include "launcher/run/log_follower.h"

namespace paddle_launch {

// The first byte of each frame between the two.
enum class ConsoleWord : char {
  Say = 's',
  Follow = 'f',
  Drain = 'd',
  End = 'e',
  EndsLater = 'l',  // the kernel will need a moment to end the process
};

std::string pack_begins(const std::vector<std::int64_t>& begins);
std::vector<std::int64_t> unpack_begins(std::string_view bytes);

struct ConsoleSettings {
  bool prefix_lines = false;  // --console all
  bool colour = false;
};

// How long a console that does not take our output is waited for after an interrupt.
constexpr std::chrono::milliseconds kPatienceOfAnImpatientUser{500};

class Console {
 public:
  Console(const ConsoleSettings& settings, std::vector<FollowedLog> logs);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  // The logs are there: `begins` says where in each this run begins, in the order of the processes.
  void follow(const std::vector<std::int64_t>& begins);

  // Never blocks: what the console process cannot take yet waits here. When that process was given
  // up, stderr gets it straight, as far as it takes it.
  void say(std::string_view text);

  int fd() const { return console_.fd(); }
  pid_t pid() const { return pid_; }
  bool has_unsent() const { return console_.has_backlog(); }
  void send_unsent();

  // Waits until everything written to the followed logs so far is on stdout: for a moment only
  // when an interrupt comes, which is left for others to take, and for the given time when one
  // came already. False: the console is given up.
  bool drain(SignalWatch& signals, std::optional<std::chrono::milliseconds> patience = {});
  // Waits until everything said is on stderr, then ends the process, with the same exceptions.
  void finish(SignalWatch& signals, std::optional<std::chrono::milliseconds> patience = {});

 private:
  std::optional<ConsoleWord> wait_for_answer(SignalWatch& signals,
                                             std::optional<std::chrono::milliseconds> patience);
  void send_or_keep(ConsoleWord word, std::string_view bytes);
  void give_up();

  FramePipe console_;  // none: it was given up
  pid_t pid_ = -1;
};

}  // namespace paddle_launch
