// SPDX-License-Identifier: Apache-2.0
// Which accelerator cards this machine has, and how that was found out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct FoundCard {
  int index = 0;
  std::string uuid;     // "" where the probe does not tell
  std::string pci_bus;  // "0000:3b:00.0", or ""

  bool operator==(const FoundCard&) const = default;
};

struct FoundCards {
  std::vector<FoundCard> cards;
  std::string probe;  // who answered: "NVML"; without cards what was tried: "no cards: …"

  bool operator==(const FoundCards&) const = default;
};

// NVIDIA cards in the order of the PCI bus: NVML, else /proc/driver/nvidia, else /dev/nvidia*. NVML
// is asked in a process of its own, and only where a driver shows itself.
// PADDLE_LAUNCH_NVML_LIBRARY in `env` names another library and has it asked in any case (tests
// with a fake, odd installations).
FoundCards find_gpus(const Environment& env, const std::string& root = "/");

// The cards of any kind; others than NVIDIA's by their device files.
FoundCards find_cards_of(CardKind kind, const Environment& env, const std::string& root = "/");

// Where NVML is to be had; none: there is no NVIDIA driver.
std::optional<std::string> nvml_library(const Environment& env, const std::string& root = "/");

// NVIDIA's management library, opened at run time: the launcher is built without it, and it may
// hang with the driver.
struct NvmlAnswer {
  std::vector<FoundCard> cards;
  std::string trouble;  // why there is no answer; empty: it answered
};

// Opens `library` in a process of its own and lists the cards, in NVML's order (the PCI bus's).
NvmlAnswer ask_nvml(const std::string& library,
                    std::chrono::milliseconds deadline = std::chrono::seconds(20));

}  // namespace paddle_launch
