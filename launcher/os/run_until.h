// SPDX-License-Identifier: Apache-2.0
// Lets a loop run until something is so, but no longer than a deadline.
#pragma once

#include <chrono>
#include <functional>

#include "launcher/os/alarm.h"
#include "launcher/os/event_loop.h"

namespace paddle_launch {

// Returns whether it is.
inline bool run_until(EventLoop& loop, std::chrono::milliseconds longest,
                      const std::function<bool()>& is_so) {
  bool is_late = false;
  Alarm alarm(loop);
  alarm.set(longest, [&is_late] { is_late = true; });
  loop.run_until([&] { return is_late || is_so(); });
  return is_so();
}

}  // namespace paddle_launch
