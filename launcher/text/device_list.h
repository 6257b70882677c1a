// SPDX-License-Identifier: Apache-2.0
// Cards and CPUs as people, schedulers and the kernel write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// Lists of cards as people and schedulers write them: "0, 1", "GPU-8f1c,GPU-77ab", "MIG-…".
enum class CardNameForm { Number, Uuid, Mig };

struct CardName {
  CardNameForm form = CardNameForm::Number;
  std::string text;  // a number without leading zeros, or the name as written

  bool operator==(const CardName&) const = default;
};

// The entries between commas, blanks and quotes around each taken off. Always at least one, maybe
// empty.
std::vector<std::string> split_card_list(std::string_view list);

// None: not the name of a card.
std::optional<CardName> parse_card_name(std::string_view entry);

// The kernel's notation for sets of CPUs: "0-3,8-11". Ascending, each CPU once; none when the text
// is not such a list. Blank text is the empty set.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// `cpus` in any order.
std::string format_cpu_list(std::vector<int> cpus);

// Addresses on the PCI bus: NVML, /proc and /sys each write them in their own way. As
// /sys/bus/pci/devices spells it: "00000000:3B:00.0" and "3b:00.0" become "0000:3b:00.0".
std::string normal_pci_bus(std::string_view address);

}  // namespace paddle_launch
