// SPDX-License-Identifier: Apache-2.0
// How long poll() and epoll_wait() are to sleep.
#pragma once

#include <algorithm>
#include <chrono>
#include <climits>

namespace paddle_launch {

// Never negative, also where the moment is over: that would mean "for ever".
inline int milliseconds_until(std::chrono::steady_clock::time_point moment) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(moment - std::chrono::steady_clock::now())
          .count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, INT_MAX));
}

}  // namespace paddle_launch
