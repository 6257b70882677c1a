// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/hex.h"

#include <fmt/format.h>

namespace paddle_launch {

std::string in_hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace paddle_launch
