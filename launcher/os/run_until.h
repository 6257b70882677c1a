// SPDX-License-Identifier: Apache-2.0
// Lets a loop run until something is so, but no longer than a deadline.
#pragma once

#include <chrono>
#include <functional>

#include "launcher/os/alarm.h"
#include "launcher/os/event_loop.h"

namespace paddle_launch {

// Whoever makes it so stops the loop. Returns whether it is.
inline bool run_until(EventLoop& loop, std::chrono::milliseconds longest,
                      const std::function<bool()>& is_so) {
  bool is_late = false;
  Alarm alarm(loop);
  alarm.set(longest, [&] {
    is_late = true;
    loop.stop();
  });
  while (!is_so() && !is_late) loop.run();
  return is_so();
}

}  // namespace paddle_launch
