// SPDX-License-Identifier: Apache-2.0
// What a keeper is to do, as it knows it from its start. A keeper that died leaves its leases to
// the next one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "launcher/job/job_spec.h"

namespace paddle_launch {

struct HeldLeases {
  std::int64_t pod = 0;  // 0: none
  std::int64_t job = 0;
  bool job_is_ours = false;  // made here, not adopted

  bool operator==(const HeldLeases&) const = default;
};

struct KeeperOrders {
  EtcdSpec spec{};
  std::string prefix{};
  std::chrono::seconds ttl{};
  HeldLeases held{};
};

}  // namespace paddle_launch
