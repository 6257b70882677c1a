// SPDX-License-Identifier: Apache-2.0
// What a failed connection usually means, for people who do not know the kernel's words by heart.
#pragma once

#include <string_view>

namespace paddle_launch {

// `problem`: "no route to host". Empty: nothing can be said.
std::string_view network_advice(std::string_view problem);

}  // namespace paddle_launch
