// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/found_cards.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "launcher/os/files.h"
#include "launcher/site/nvml.h"
#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> names_in(const std::string& folder) {
  const auto close = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> listing(opendir(folder.c_str()), close);
  std::vector<std::string> names;
  if (!listing) return names;
  while (const dirent* entry = readdir(listing.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

// The numbers of <root>/dev/<prefix>[0-9]+, ascending.
std::vector<int> device_numbers(const std::string& root, std::string_view prefix) {
  std::vector<int> numbers;
  for (const auto& name : names_in(root + "/dev")) {
    if (!name.starts_with(prefix)) continue;
    const auto number = parse_number(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0) numbers.push_back(*number);
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
    const auto minor = parse_number(field(*information, "Device Minor:"));
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

std::optional<std::string> nvml_library(const Environment& env, const std::string& root) {
  if (auto named = lookup(env, "PADDLE_LAUNCH_NVML_LIBRARY"); named && !named->empty())
    return named;
  const bool driver = exists(root + "/proc/driver/nvidia") || exists(root + "/dev/nvidiactl") ||
                      exists(root + "/dev/dxg");
  if (!driver) return std::nullopt;
  return "libnvidia-ml.so.1";
}

}  // namespace

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
  switch (kind) {
    case CardKind::Xpu:
      return cards_in_dev(root, "xpu");
    case CardKind::Npu:
      return cards_in_dev(root, "davinci");
    case CardKind::Mlu:
      return cards_in_dev(root, "cambricon_dev");
    case CardKind::Gpu:
      break;
  }
  return find_gpus(env, root);
}

}  // namespace paddle_launch
