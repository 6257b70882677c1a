// SPDX-License-Identifier: Apache-2.0
// IPv4 addresses as numbers in host byte order, and as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paddle_launch {

// Four decimal numbers with dots between them and nothing else: not "10.1", not "0x7f.0.0.1".
std::optional<std::uint32_t> parse_ipv4(const std::string& text);

std::string format_ipv4(std::uint32_t address);

constexpr std::uint32_t kLoopback = 0x7f000001;  // 127.0.0.1
bool is_loopback(std::uint32_t address);         // 127.x.y.z

}  // namespace paddle_launch
