// SPDX-License-Identifier: Apache-2.0
// Who is which rank: the same on every pod, except for the range that is mine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/card.h"

namespace paddle_launch {

struct Trainer {
  int rank = 0;
  int local_rank = 0;
  int node = 0;  // M_id
  std::string endpoint;
  std::vector<Card> cards;

  bool operator==(const Trainer&) const = default;
};

struct WorldPlan {
  std::vector<Trainer> trainers;  // in rank order, of the whole job
  int first_mine = 0;             // my trainers are [first_mine, first_mine + my_count)
  int my_count = 0;
  int local_size = 0;         // trainers on my node, also those of its other launchers
  bool first_on_node = true;  // my first trainer has local rank 0
  int nodes = 1;
  std::string pod_name;
  std::string master;  // PADDLE_MASTER
  // On the pod of rank 0: rank 0's own PADDLE_MASTER, where its store will listen, while the
  // launcher receives the others at `master`; empty: no such door.
  std::string store{};
  std::optional<CardKind> card_kind;  // none: CPU

  bool operator==(const WorldPlan&) const = default;
};

}  // namespace paddle_launch
