// SPDX-License-Identifier: Apache-2.0
// See node_range.h.
#include "launcher/cli/node_range.h"

#include <cstddef>

#include "launcher/text/number.h"

namespace paddle_launch {

NodeRange node_range_in(std::string_view value) {
  const std::size_t colon = value.find(':');
  const auto min = static_cast<int>(parse_whole_number(value.substr(0, colon)).value_or(1));
  if (colon == std::string_view::npos) return {min, min};
  return {min, static_cast<int>(parse_whole_number(value.substr(colon + 1)).value_or(min))};
}

int number_of_nodes(const GivenOptions& given) {
  return node_range_in(given.text("nnodes").value_or("1")).min;
}

}  // namespace paddle_launch
