// SPDX-License-Identifier: Apache-2.0
// HOST:PORT taken apart, and what of it is an address.
#pragma once

#include <string_view>

namespace paddle_launch {

// All of it where there is no port. Looks into the endpoint.
std::string_view host_of(std::string_view endpoint);

// 0 where there is none.
int port_of(std::string_view endpoint);

// Four numbers up to 255 with dots between them: not "10.1".
bool is_dotted_address(std::string_view host);

}  // namespace paddle_launch
