// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/found_cards.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "launcher/os/files.h"
#include "launcher/os/shared_library.h"
#include "launcher/os/side_process.h"
#include "launcher/text/device_list.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The numbers of <root>/dev/<prefix>[0-9]+, ascending.
std::vector<int> device_numbers(const std::string& root, std::string_view prefix) {
  std::vector<int> numbers;
  for (const auto& name : names_in(root + "/dev")) {
    if (!name.starts_with(prefix)) continue;
    const auto number = parse_whole_number(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0) numbers.push_back(static_cast<int>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// "Device Minor: \t 3" gives "3".
std::string field(std::string_view information, std::string_view name) {
  const auto at = information.find(name);
  if (at == std::string_view::npos) return {};
  auto value = information.substr(at + name.size());
  value = value.substr(0, value.find('\n'));
  const auto first = value.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(value.substr(first, value.find_last_not_of(" \t\r") - first + 1));
}

std::vector<FoundCard> cards_in_proc(const std::string& root) {
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  std::vector<FoundCard> cards;
  const auto names = names_in(folder);
  if (names.empty()) return cards;
  const auto devices = device_numbers(root, "nvidia");
  for (const auto& name : names) {
    const auto information = read_file(folder + "/" + name + "/information");
    if (!information) continue;
    // In a container /proc may list the host's cards, while /dev has only those that were given to
    // it.
    const auto minor = parse_whole_number(field(*information, "Device Minor:"));
    if (minor && !devices.empty() && !std::binary_search(devices.begin(), devices.end(), *minor)) {
      continue;
    }
    const auto bus = field(*information, "Bus Location:");
    cards.push_back(
        {0, field(*information, "GPU UUID:"), normal_pci_bus(bus.empty() ? name : bus)});
  }
  std::sort(cards.begin(), cards.end(),
            [](const FoundCard& a, const FoundCard& b) { return a.pci_bus < b.pci_bus; });
  for (std::size_t place = 0; place < cards.size(); ++place) {
    cards[place].index = static_cast<int>(place);
  }
  return cards;
}

FoundCards cards_in_dev(const std::string& root, std::string_view prefix) {
  FoundCards found;
  for (const int number : device_numbers(root, prefix)) found.cards.push_back({number, "", ""});
  found.probe = fmt::format("{}/dev/{}*", found.cards.empty() ? "no cards: no " : "", prefix);
  return found;
}

}  // namespace

std::optional<std::string> nvml_library(const Environment& env, const std::string& root) {
  if (auto named = lookup(env, "PADDLE_LAUNCH_NVML_LIBRARY"); named && !named->empty())
    return named;
  const bool driver = exists(root + "/proc/driver/nvidia") || exists(root + "/dev/nvidiactl") ||
                      exists(root + "/dev/dxg");
  if (!driver) return std::nullopt;
  return "libnvidia-ml.so.1";
}

FoundCards find_gpus(const Environment& env, const std::string& root) {
  std::string trouble = "NVML not asked (no NVIDIA driver)";
  if (const auto library = nvml_library(env, root)) {
    NvmlAnswer answer = ask_nvml(*library);
    if (answer.trouble.empty()) {
      std::string probe = answer.cards.empty() ? "no cards: NVML knows none" : "NVML";
      return {std::move(answer.cards), std::move(probe)};
    }
    trouble = std::move(answer.trouble);
  }
  auto in_proc = cards_in_proc(root);
  if (!in_proc.empty()) return {std::move(in_proc), "/proc/driver/nvidia/gpus"};
  auto in_dev = cards_in_dev(root, "nvidia");
  if (in_dev.cards.empty()) {
    return {{}, fmt::format("no cards: {}, no /proc/driver/nvidia/gpus, no /dev/nvidia*", trouble)};
  }
  // CUDA numbers what it sees from 0 on, whatever the device files are called.
  for (std::size_t place = 0; place < in_dev.cards.size(); ++place) {
    in_dev.cards[place].index = static_cast<int>(place);
  }
  return in_dev;
}

FoundCards find_cards_of(CardKind kind, const Environment& env, const std::string& root) {
  if (words_of(kind).option == kOpenOption) return {{}, "such cards are not looked for"};
  switch (kind) {
    case CardKind::Xpu:
      return cards_in_dev(root, "xpu");
    case CardKind::Npu:
      return cards_in_dev(root, "davinci");
    case CardKind::Mlu:
      return cards_in_dev(root, "cambricon_dev");
    default:
      break;
  }
  return find_gpus(env, root);
}

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
