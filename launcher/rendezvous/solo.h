// SPDX-License-Identifier: Apache-2.0
// Alone: the back end of one node, so that nobody else has to ask "am I alone?".
#pragma once

#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

class Solo final : public Rendezvous {
 public:
  Roster meet(const PodOffer& mine) override { return {.pods = {mine}, .mine = 0}; }
};

}  // namespace paddle_launch
