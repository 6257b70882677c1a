// SPDX-License-Identifier: Apache-2.0
// Addresses on the PCI bus: NVML, /proc and /sys each write them in their own way.
#pragma once

#include <string>
#include <string_view>

namespace paddle_launch {

// As /sys/bus/pci/devices spells it: "00000000:3B:00.0" and "3b:00.0" become "0000:3b:00.0".
std::string normal_pci_bus(std::string_view address);

}  // namespace paddle_launch
