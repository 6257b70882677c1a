// SPDX-License-Identifier: Apache-2.0
// All pods of the job in one agreed order, and which of them is this launcher.
#pragma once

#include <cstddef>
#include <vector>

#include "launcher/job/pod_offer.h"

namespace paddle_launch {

struct Roster {
  std::vector<PodOffer> pods;
  std::size_t mine = 0;
  // The node of each pod, ascending from 0 without a gap; empty: each pod is a node of its own.
  std::vector<int> node_of{};

  bool shares_its_node(std::size_t pod) const {
    const auto is_same = [&](std::size_t other) {
      return other < node_of.size() && node_of[other] == node_of[pod];
    };
    return pod < node_of.size() && (is_same(pod + 1) || (pod > 0 && is_same(pod - 1)));
  }

  bool operator==(const Roster&) const = default;
};

}  // namespace paddle_launch
