// SPDX-License-Identifier: Apache-2.0
// How much memory a piece of code asks for: hostile bytes must not make us ask for much.
#pragma once

#include <cstddef>

namespace paddle_launch {

// All that operator new gave out so far, whether it was given back or not.
std::size_t bytes_allocated();

// By `code` in all.
template <typename Code>
std::size_t bytes_allocated_by(Code code) {
  const std::size_t before = bytes_allocated();
  code();
  return bytes_allocated() - before;
}

}  // namespace paddle_launch
