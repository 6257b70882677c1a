// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/clock.h"

#include <sys/random.h>

#include <cstdint>

namespace paddle_launch {

int random_below(int limit) {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) return 0;
  return static_cast<int>(number % static_cast<std::uint32_t>(limit));
}

std::chrono::milliseconds spread(std::chrono::milliseconds pause) {
  const auto half = pause / 2;
  return pause - half + std::chrono::milliseconds(random_below(static_cast<int>(half.count()) + 1));
}

}  // namespace paddle_launch
