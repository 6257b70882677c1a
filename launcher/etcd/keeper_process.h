// SPDX-License-Identifier: Apache-2.0
// What the etcd keeper does in its own process: talks to the server for the launcher, and when the
// launcher is gone gives the pod's lease back, so that the other nodes need not wait for it to run
// out.
#pragma once

#include "launcher/etcd/keeper_orders.h"

namespace paddle_launch {

// After the fork, in the child, with all signals blocked. Never returns; ends soon after the other
// end of the socket was closed.
[[noreturn]] void be_the_etcd_keeper(int socket, const KeeperOrders& orders);

}  // namespace paddle_launch
