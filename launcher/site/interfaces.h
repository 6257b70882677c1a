// SPDX-License-Identifier: Apache-2.0
// Network interfaces by the addresses they have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddle_launch {

// Loopback too, and each address of an interface that has several.
struct InterfaceAddress {
  std::string name{};  // "eth0"
  std::uint32_t address = 0;
};
std::vector<InterfaceAddress> interface_addresses();

// "eth0"; none: no interface of this machine has the address.
std::optional<std::string> interface_of(std::uint32_t address);

}  // namespace paddle_launch
