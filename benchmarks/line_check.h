// SPDX-License-Identifier: Apache-2.0
// Did every line that line_writer.py wrote arrive, whole, and in the order of its rank?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

class LineCheck {
 public:
  LineCheck(int ranks, int lines) : next_(static_cast<size_t>(ranks), 0), lines_(lines) {}

  // A console's stream: each line may carry a prefix that names the rank.
  void check_stream(std::string_view text, bool prefixed);
  // One rank's file: lines of the launcher itself (not beginning with "rank=") are passed over.
  void check_file(const std::string& path);

  // Empty, or "3 torn, 399997 of 400000 lines whole".
  std::string complaint() const;

 private:
  void check_line(std::string_view line, bool prefixed);

  std::vector<int> next_;  // for each rank the number that must come next
  int lines_;
  long good_ = 0;
  long torn_ = 0;
};

}  // namespace paddle_launch
