// SPDX-License-Identifier: Apache-2.0
// Addresses: IPv4 as numbers in host byte order and as text, and HOST:PORT taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

// Four decimal numbers with dots between them and nothing else: not "10.1", not "0x7f.0.0.1".
std::optional<std::uint32_t> parse_ipv4(const std::string& text);

std::string format_ipv4(std::uint32_t address);

constexpr std::uint32_t kLoopback = 0x7f000001;  // 127.0.0.1
bool is_loopback(std::uint32_t address);         // 127.x.y.z

// All of it where there is no port. Looks into the endpoint.
std::string_view host_of(std::string_view endpoint);

// 0 where there is none.
int port_of(std::string_view endpoint);

// Four numbers up to 255 with dots between them: not "10.1".
bool is_dotted_address(std::string_view host);

}  // namespace paddle_launch
