// SPDX-License-Identifier: Apache-2.0
// Alone: the back end of one node, so that nobody else has to ask "am I alone?".
#pragma once

#include <memory>

#include "launcher/channel/solo_channel.h"
#include "launcher/os/ipv4.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

class Solo final : public Rendezvous {
 public:
  Met meet(const PodClaim& /*claim*/, const PodOffer& mine, const GiftMaker& gift) override {
    const int trainers = static_cast<int>(mine.trainers.size());
    return {.roster = {.pods = {mine}, .mine = 0},
            .channel = std::make_unique<SoloChannel>(),
            .warnings = {},
            .gift = gift ? gift(trainers, kLoopback) : std::string()};
  }
};

}  // namespace paddle_launch
