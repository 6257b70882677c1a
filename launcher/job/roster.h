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

  bool operator==(const Roster&) const = default;
};

}  // namespace paddle_launch
