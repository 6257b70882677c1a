// SPDX-License-Identifier: Apache-2.0
// The accelerator cards that trainers use, and how each kind is spelled.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

enum class CardKind { Gpu, Xpu, Npu, Mlu };

struct Card {
  std::string name;  // as the user or the visibility variable names it: "5", "GPU-8f…", "MIG-…"
  std::string index;                   // what FLAGS_selected_* says: the place in the visible list
  std::optional<std::string> pci_bus;  // "0000:3b:00.0" where the probe knows it (for --bind)

  bool operator==(const Card&) const = default;
};

// How one kind of card is spelled in options and variables.
struct CardWords {
  CardKind kind;
  std::string_view option;            // "gpus"
  std::string_view visible_variable;  // "CUDA_VISIBLE_DEVICES"
  std::string_view selected_flag;     // "FLAGS_selected_gpus"
  std::string_view backend;           // "nccl"
};

constexpr CardWords kCardWords[] = {
    {CardKind::Gpu, "gpus", "CUDA_VISIBLE_DEVICES", "FLAGS_selected_gpus", "nccl"},
    {CardKind::Xpu, "xpus", "XPU_VISIBLE_DEVICES", "FLAGS_selected_xpus", "bkcl"},
    {CardKind::Npu, "npus", "ASCEND_VISIBLE_DEVICES", "FLAGS_selected_npus", "hccl"},
    {CardKind::Mlu, "mlus", "MLU_VISIBLE_DEVICES", "FLAGS_selected_mlus", "cncl"},
};

constexpr const CardWords& words_of(CardKind kind) { return kCardWords[static_cast<int>(kind)]; }

}  // namespace paddle_launch
