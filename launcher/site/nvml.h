// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, opened at run time: the launcher is built without it, and it may
// hang with the driver.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher/site/found_cards.h"

namespace paddle_launch {

struct NvmlAnswer {
  std::vector<FoundCard> cards;
  std::string trouble;  // why there is no answer; empty: it answered
};

// Opens `library` in a process of its own and lists the cards, in NVML's order (the PCI bus's).
NvmlAnswer ask_nvml(const std::string& library,
                    std::chrono::milliseconds deadline = std::chrono::seconds(20));

}  // namespace paddle_launch
