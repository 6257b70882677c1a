// SPDX-License-Identifier: Apache-2.0
// What this machine's clocks say now, as one pod tells another.
#pragma once

#include <chrono>

#include "launcher/channel/message.h"

namespace paddle_launch {

inline ClockMessage clocks_now() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {.steady = std::chrono::steady_clock::now(),
          .wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count()};
}

}  // namespace paddle_launch
