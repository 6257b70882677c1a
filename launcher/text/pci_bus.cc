// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/pci_bus.h"

#include <algorithm>
#include <cstddef>

namespace paddle_launch {
namespace {

constexpr std::size_t kDomainDigits = 4;

}  // namespace

std::string normal_pci_bus(std::string_view address) {
  std::string normal(address);
  std::transform(normal.begin(), normal.end(), normal.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::count(normal.begin(), normal.end(), ':') == 1) normal.insert(0, "0000:");
  while (normal.find(':') != std::string::npos && normal.find(':') > kDomainDigits &&
         normal.front() == '0') {
    normal.erase(0, 1);
  }
  return normal;
}

}  // namespace paddle_launch
