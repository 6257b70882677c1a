// SPDX-License-Identifier: Apache-2.0
// --console all: puts the output of several processes together, whole lines with a prefix: [3] for
// rank 3, [server 1] for a server. Pure: bytes in, bytes out, the time is handed in.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/job/role.h"

namespace paddle_launch {

class LinePrinter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit LinePrinter(bool colour) : colour_(colour) {}

  // Appends to `out` the lines that `bytes` completes.
  void add(const ProcessName& process, std::string_view bytes, Time now, std::string& out);
  // Appends the lines that have been unfinished for a second; with `all`, every unfinished one.
  void show_unfinished(Time now, bool all, std::string& out);
  // When show_unfinished() should be called next.
  std::optional<Time> next_unfinished() const;

 private:
  struct Pending {
    std::string text;
    std::string prefix;  // made at the first line
    Time since{};
    bool after_return = false;  // the last line ended with \r: a \n right after it belongs to it
  };

  std::string prefix_of(const ProcessName& process) const;
  void begin_line(const ProcessName& process, Pending& pending, std::string& out);
  void carriage_return(const ProcessName& process, Pending& pending, std::string_view part,
                       std::string& out);
  void end_line(const ProcessName& process, Pending& pending, std::string_view part,
                std::string& out);
  void keep(const ProcessName& process, Pending& pending, std::string_view part, Time now,
            std::string& out);

  bool colour_;
  std::map<ProcessName, Pending> pending_;
  std::optional<ProcessName> open_line_;  // whose unfinished line stands on the screen
};

}  // namespace paddle_launch
