// SPDX-License-Identifier: Apache-2.0
// Keys and values as etcd's JSON gateway writes them (RFC 4648, padded).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace paddle_launch {

std::string to_base64(std::string_view bytes);
// Nothing: it is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace paddle_launch
