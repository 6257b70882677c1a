// SPDX-License-Identifier: Apache-2.0
// What of a log a person needs to see when its worker failed.
#pragma once

#include <string>
#include <string_view>

namespace paddle_launch {

// The last 20 lines of this run, or more where the log ends with a Python traceback: then all of
// it, chained exceptions included. `tail` is the end of the log, as bytes; `run_mark` begins the
// launcher's own lines: what stands before the last start line belongs to an earlier run.
std::string log_excerpt(std::string_view tail, std::string_view run_mark);

}  // namespace paddle_launch
