// SPDX-License-Identifier: Apache-2.0
// Network interfaces by the addresses they have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paddle_launch {

// "eth0"; none: no interface of this machine has the address.
std::optional<std::string> interface_of(std::uint32_t address);

}  // namespace paddle_launch
