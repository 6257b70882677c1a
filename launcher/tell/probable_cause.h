// SPDX-License-Identifier: Apache-2.0
// Who really began it. A trainer that raises an exception closes its connections before it has
// ended, and a neighbour that notices may be dead first. The kernel's order of deaths then names
// the neighbour; the logs know better.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace paddle_launch {

struct LastWords {
  int worker = 0;
  std::string_view bytes;       // the end of this run's log
  std::int64_t written_ns = 0;  // when it was last written to
};

// The worker whose log ends with an error that is older than that of `first`, the first to die, or
// with an error of its own where `first` only complains of a lost connection. None: `first` is the
// cause as far as one can tell.
std::optional<int> probable_cause(int first, const std::vector<LastWords>& words);

// Whether a log ends with the loss of a neighbour, and no error of its own.
bool is_secondary(std::string_view log);

// Whether a log ends with an error of its own, told to its end. `log` is what stood there when its
// process was told to stop: whatever comes later may be the answer to that. An error after which
// the program went on is none.
bool ends_with_own_error(std::string_view log);

// The line that names the error with which a log ends, "RuntimeError: CUDA out of memory"; empty:
// the log does not end with one.
std::string_view error_line(std::string_view log);

// The worker whose log was the first to end with an error of its own; none: there is no such log.
std::optional<int> first_own_error(const std::vector<LastWords>& words);

}  // namespace paddle_launch
