// SPDX-License-Identifier: Apache-2.0
// What the launcher and its NCCL keeper say to each other: one packet a message, the first byte is
// its kind. Both ends are one program, so the bytes need no version.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/job/nccl_ids.h"

namespace paddle_launch {

enum class KeeperWord : char { Step = 's', Problem = 'p', Ids = 'i' };

constexpr std::size_t kLongestPacket = 128 * 1024;

struct IdOrder {
  int count = 1;
  std::string interface_name{};  // empty: NCCL's own choice
};

std::string pack_order(const IdOrder& order);
std::optional<IdOrder> unpack_order(std::string_view packet);

// Without the first byte.
std::string pack_ids(const NcclIds& ids);
std::optional<NcclIds> unpack_ids(std::string_view packet);

}  // namespace paddle_launch
