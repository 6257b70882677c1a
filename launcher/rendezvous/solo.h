// SPDX-License-Identifier: Apache-2.0
// Alone: the back end of one node, so that nobody else has to ask "am I alone?".
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "launcher/channel/solo_session.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

class Solo final : public Rendezvous {
 public:
  Met meet(const JobTerms& /*terms*/, const PodOffer& mine, const PayloadMaker& payload) override {
    const int trainers = static_cast<int>(mine.trainers.size());
    // Before the rest: g++ 12 destroys a list twice when an exception leaves the braces around it.
    std::string given = payload ? payload(trainers, kLoopback) : std::string();
    return {.roster = {.pods = {mine}, .mine = 0},
            .channel = std::make_unique<SoloSession>(),
            .warnings = {},
            .payload = std::move(given)};
  }
};

}  // namespace paddle_launch
