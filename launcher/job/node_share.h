// SPDX-License-Identifier: Apache-2.0
// This launcher's place among the launchers of its node: one a node, or one a card.
#pragma once

namespace paddle_launch {

struct NodeShare {
  int local = 0;           // 0 … launchers-1
  int launchers = 1;       // on this node
  bool own_cards = false;  // the cards that this launcher sees are its alone

  bool operator==(const NodeShare&) const = default;
};

// How many trainers of the node stand before this launcher's, each launcher having `trainers`: with
// --start_port its first port is that many further.
inline int first_of_share(const NodeShare& share, int trainers) { return share.local * trainers; }

}  // namespace paddle_launch
