// SPDX-License-Identifier: Apache-2.0
// The accelerator cards that trainers use, and how each kind is spelled.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

enum class CardKind { Gpu, Xpu, Npu, Mlu, Gcu, Sdaa, IluvatarGpu, MetaxGpu, IntelHpu, CustomCpu };

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
  std::string_view backend;           // "nccl"; empty: it has no name but xccl
  std::string_view custom = "";       // Paddle's name of a custom device; empty: it is none
};

// Cards whose kind has no option of its own are named by this one, and are not looked for.
constexpr std::string_view kOpenOption = "devices";

// The variable that says which custom device --devices and --backend=xccl mean.
constexpr const char* kCustomVariable = "PADDLE_XCCL_BACKEND";

constexpr CardWords kCardWords[] = {
    {CardKind::Gpu, "gpus", "CUDA_VISIBLE_DEVICES", "FLAGS_selected_gpus", "nccl"},
    {CardKind::Xpu, "xpus", "XPU_VISIBLE_DEVICES", "FLAGS_selected_xpus", "bkcl"},
    {CardKind::Npu, "npus", "ASCEND_VISIBLE_DEVICES", "FLAGS_selected_npus", "hccl", "npu"},
    {CardKind::Mlu, "mlus", "MLU_VISIBLE_DEVICES", "FLAGS_selected_mlus", "cncl", "mlu"},
    {CardKind::Gcu, kOpenOption, "GCU_VISIBLE_DEVICES", "FLAGS_selected_gcus", "", "gcu"},
    {CardKind::Sdaa, kOpenOption, "SDAA_VISIBLE_DEVICES", "FLAGS_selected_sdaas", "", "sdaa"},
    {CardKind::IluvatarGpu, kOpenOption, "ILUVATAR_GPU_VISIBLE_DEVICES",
     "FLAGS_selected_iluvatar_gpus", "", "iluvatar_gpu"},
    {CardKind::MetaxGpu, kOpenOption, "METAX_GPU_VISIBLE_DEVICES", "FLAGS_selected_metax_gpus", "",
     "metax_gpu"},
    {CardKind::IntelHpu, kOpenOption, "INTEL_HPU_VISIBLE_DEVICES", "FLAGS_selected_intel_hpus", "",
     "intel_hpu"},
    {CardKind::CustomCpu, kOpenOption, "CUSTOM_CPU_VISIBLE_DEVICES", "FLAGS_selected_custom_cpus",
     "", "custom_cpu"},
};

constexpr const CardWords& words_of(CardKind kind) { return kCardWords[static_cast<int>(kind)]; }

}  // namespace paddle_launch
