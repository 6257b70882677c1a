// SPDX-License-Identifier: Apache-2.0
// The time of day, for what other machines read.
#pragma once

#include <chrono>
#include <cstdint>

namespace paddle_launch {

// Since 1970.
inline std::int64_t wall_clock_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace paddle_launch
