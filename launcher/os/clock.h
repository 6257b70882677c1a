// SPDX-License-Identifier: Apache-2.0
// Time: how long a wait may last, what other machines call the time, and waits that differ from
// launcher to launcher.
#pragma once

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>

namespace paddle_launch {

// How long poll() and epoll_wait() are to sleep. Never negative, also where the moment is over:
// that would mean "for ever".
inline int milliseconds_until(std::chrono::steady_clock::time_point moment) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(moment - std::chrono::steady_clock::now())
          .count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, INT_MAX));
}

// The time of day, since 1970, for what other machines read.
inline std::int64_t wall_clock_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// From 0 to limit - 1, by chance, so that many launchers that do the same at the same moment do it
// at different ones. Not for secrets.
int random_below(int limit);

// Somewhere between half of it and the whole.
std::chrono::milliseconds spread(std::chrono::milliseconds pause);

}  // namespace paddle_launch
