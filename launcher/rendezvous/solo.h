// SPDX-License-Identifier: Apache-2.0
// Alone: the back end of one node, so that nobody else has to ask "am I alone?".
#pragma once

#include <memory>

#include "launcher/channel/solo_channel.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

class Solo final : public Rendezvous {
 public:
  Met meet(const PodClaim& /*claim*/, const PodOffer& mine) override {
    return {.roster = {.pods = {mine}, .mine = 0},
            .channel = std::make_unique<SoloChannel>(),
            .warnings = {}};
  }
};

}  // namespace paddle_launch
