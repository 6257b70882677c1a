// SPDX-License-Identifier: Apache-2.0
// Which port numbers may be handed out at all. The kernel gives ports of its ephemeral range to
// outgoing connections at any moment, so a port found free there may be gone before a trainer
// listens on it.
#pragma once

#include <string>
#include <vector>

#include "launcher/site/ports.h"

namespace paddle_launch {

struct PortSpan {
  int first = 0;
  int last = 0;  // inclusive

  bool operator==(const PortSpan&) const = default;
};

// Enough spans for `needed` ports outside the ephemeral range, from 20000 on if possible and never
// below 10000; where that range leaves too little, ports inside it, with a warning. --port_range is
// taken as it is.
std::vector<PortSpan> port_candidates(const PortWish& wish, int needed,
                                      std::vector<std::string>& warnings,
                                      const std::string& proc_root);

int count_ports(const std::vector<PortSpan>& spans);
int port_at(const std::vector<PortSpan>& spans, int place);
std::string format_spans(const std::vector<PortSpan>& spans);  // "20000-32767, 61000-65535"

}  // namespace paddle_launch
