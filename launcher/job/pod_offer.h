// SPDX-License-Identifier: Apache-2.0
// What one pod (one launcher) brings to the job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/job/card.h"

namespace paddle_launch {

// One trainer's share: the cards it owns (none: CPU) and the port it will listen on.
struct TrainerOffer {
  std::vector<Card> cards;
  int port = 0;

  bool operator==(const TrainerOffer&) const = default;
};

struct PodOffer {
  std::string name;                   // six letters, as POD_NAME
  std::string host;                   // as it stands in endpoints
  std::optional<CardKind> card_kind;  // none: CPU
  std::vector<TrainerOffer> trainers;
  int master_port = 0;  // offered for PADDLE_MASTER

  bool operator==(const PodOffer&) const = default;
};

}  // namespace paddle_launch
