// SPDX-License-Identifier: Apache-2.0
// Puts a file in its place as a whole, for readers that may look at any time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace paddle_launch {

// Whole or not at all: a reader never sees half of it. The text is what failed; none: it is there.
std::optional<std::string> replace_file(const std::string& path, const std::string& content,
                                        mode_t mode);

}  // namespace paddle_launch
