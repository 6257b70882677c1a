// SPDX-License-Identifier: Apache-2.0
// What the NCCL keeper does in its own process: opens libnccl at once, makes ids when asked, and
// then stays, since the ranks check in with threads that NCCL runs there. Decision 0021.
//
//   keeper     Step Step Step …  what it is about to do, for the message when that hangs
//   launcher   an order          when the size of the world is known
//   keeper     Step, then Ids or Problem
//   launcher   closes its end    when the round is over; the keeper ends
//
// The first byte of what the keeper says is its word. Both ends are one program, so the bytes need
// no version.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/job/nccl_ids.h"
#include "launcher/nccl/libnccl.h"
#include "launcher/os/frames.h"

namespace paddle_launch {

enum class KeeperWord : char { Step = 's', Problem = 'p', Ids = 'i' };

struct IdOrder {
  int count = 1;
  std::string interface_name{};  // empty: NCCL's own choice
};

std::string pack_order(const IdOrder& order);
std::optional<IdOrder> unpack_order(std::string_view packet);

// Without the word.
std::string pack_ids(const NcclIds& ids);
std::optional<NcclIds> unpack_ids(std::string_view packet);

// In the child. Returns when the other end of the socket is closed.
void be_the_nccl_keeper(FramePipe& launcher, const NcclSearch& search);

}  // namespace paddle_launch
