// SPDX-License-Identifier: Apache-2.0
// HOST:PORT taken apart.
#pragma once

#include <string>
#include <string_view>

#include "launcher/job/job_spec.h"
#include "launcher/text/number.h"

namespace paddle_launch {

// text is a value that the rule HostAndPort has accepted.
inline MeetingPoint split_host_and_port(std::string_view text) {
  const std::size_t colon = text.find(':');
  return {std::string(text.substr(0, colon)),
          static_cast<int>(parse_whole_number(text.substr(colon + 1)).value_or(0))};
}

}  // namespace paddle_launch
