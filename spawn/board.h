// SPDX-License-Identifier: Apache-2.0
// Memory that the calling program shares with the launcher process and with the forked functions:
// each writes what only it knows, nobody waits for a reader.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// How the job ended, as the launcher process tells it.
struct BoardEnd {
  int status = 1;
  int rank = -1;  // of the process that failed first
  pid_t pid = 0;
  int code = 0;
  int signal = 0;
  bool was_stopped = false;  // by a signal to the launcher process
  std::string text{};
};

class Board {
 public:
  Board();  // throws std::system_error
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  // Written by a forked function; `index` of so many processes.
  void begin(std::size_t index, std::size_t count, pid_t pid);
  void tell_error(std::size_t index, std::string_view message);
  // Written by the launcher process.
  void end(const BoardEnd& end);

  // None: not all are started yet.
  std::optional<std::vector<pid_t>> pids() const;
  std::string error_of(pid_t pid) const;
  // None: the launcher process was killed, or has not ended.
  std::optional<BoardEnd> ending() const;

 private:
  struct Layout;
  Layout* layout_;
};

}  // namespace paddle_launch
