// SPDX-License-Identifier: Apache-2.0
// The kernel's notation for sets of CPUs: "0-3,8-11".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddle_launch {

// Ascending, each CPU once; none when the text is not such a list. Blank text is the empty set.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// `cpus` in any order.
std::string format_cpu_list(std::vector<int> cpus);

}  // namespace paddle_launch
