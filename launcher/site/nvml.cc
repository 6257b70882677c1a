// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/nvml.h"

#include <array>
#include <charconv>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "launcher/os/shared_library.h"
#include "launcher/os/side_process.h"
#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

// NVML's C boundary (nvml.h, stable since driver 410). Every call returns 0 for success.
using Device = struct NvmlDevice*;
struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  std::array<char, 32> bus_id;
};
using GetCount = int (*)(unsigned*);
using GetHandle = int (*)(unsigned, Device*);
using GetUuid = int (*)(Device, char*, unsigned);
using GetPciInfo = int (*)(Device, PciInfo*);
using NoArguments = int (*)();

constexpr std::string_view kCards = "cards\n";  // the first line of an answer that is no trouble

void must(int result, std::string_view call) {
  if (result != 0) throw std::runtime_error(fmt::format("{} gave error {}", call, result));
}

// One line a card: index, UUID, bus, with tabs between them. Runs in the side process.
std::string list_cards(const SharedLibrary& nvml) {
  const auto get_handle = nvml.symbol<GetHandle>("nvmlDeviceGetHandleByIndex_v2");
  const auto get_uuid = nvml.symbol<GetUuid>("nvmlDeviceGetUUID");
  const auto get_pci_info = nvml.symbol<GetPciInfo>("nvmlDeviceGetPciInfo_v3");
  must(nvml.symbol<NoArguments>("nvmlInit_v2")(), "nvmlInit_v2");
  unsigned count = 0;
  must(nvml.symbol<GetCount>("nvmlDeviceGetCount_v2")(&count), "nvmlDeviceGetCount_v2");
  std::string lines(kCards);
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    // A card that fell off the bus is not there; the others keep their numbers.
    if (get_handle(index, &device) != 0) continue;
    std::array<char, 96> uuid{};
    PciInfo pci{};
    if (get_uuid(device, uuid.data(), uuid.size()) != 0) uuid[0] = '\0';
    if (get_pci_info(device, &pci) != 0) pci.bus_id[0] = '\0';
    lines += fmt::format("{}\t{}\t{}\n", index, uuid.data(), pci.bus_id.data());
  }
  nvml.symbol<NoArguments>("nvmlShutdown")();
  return lines;
}

std::string answer_of(const std::string& library) {
  std::optional<SharedLibrary> nvml;
  try {
    nvml.emplace(library);
  } catch (const std::exception& error) {
    return fmt::format("NVML not installed ({})", error.what());
  }
  try {
    return list_cards(*nvml);
  } catch (const std::exception& error) {
    return fmt::format("NVML failed ({})", error.what());
  }
}

std::vector<FoundCard> parse_cards(std::string_view lines) {
  std::vector<FoundCard> cards;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end);
    const auto first_tab = line.find('\t');
    const auto second_tab = line.find('\t', first_tab + 1);
    FoundCard card;
    std::from_chars(line.data(), line.data() + first_tab, card.index);
    card.uuid = line.substr(first_tab + 1, second_tab - first_tab - 1);
    if (second_tab + 1 < line.size()) card.pci_bus = normal_pci_bus(line.substr(second_tab + 1));
    cards.push_back(std::move(card));
    lines.remove_prefix(end + 1);
  }
  return cards;
}

}  // namespace

NvmlAnswer ask_nvml(const std::string& library, std::chrono::milliseconds deadline) {
  const auto answer = run_aside(deadline, [&library] { return answer_of(library); });
  if (!answer) {
    return {{},
            fmt::format("NVML did not answer (crashed, or silent for {} ms)", deadline.count())};
  }
  if (!answer->starts_with(kCards)) return {{}, *answer};
  return {parse_cards(std::string_view(*answer).substr(kCards.size())), {}};
}

}  // namespace paddle_launch
