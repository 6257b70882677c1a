// SPDX-License-Identifier: Apache-2.0
// Chance, so that many launchers that do the same at the same moment do it at different ones.
#pragma once

#include <chrono>

namespace paddle_launch {

// From 0 to limit - 1. Not for secrets.
int random_below(int limit);

// Somewhere between half of it and the whole.
std::chrono::milliseconds spread(std::chrono::milliseconds pause);

}  // namespace paddle_launch
