// SPDX-License-Identifier: Apache-2.0
// Alone: so that nobody else has to ask "am I alone?".
#pragma once

#include "launcher/channel/solo_session.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

class Solo final : public Rendezvous {
 public:
  bool has_others() const override { return false; }
  Gathered gather(const Brought& brought) override {
    PodOffer mine = brought.offer.pod;
    // A pod keeps its name through all rounds.
    name_.empty() ? name_ = mine.name : mine.name = name_;
    const auto trainers = static_cast<int>(mine.trainers.size());
    Gathered alone{.roster = {.pods = {std::move(mine)}, .mine = 0}, .round = brought.next.state};
    if (brought.payload) alone.payload = brought.payload(trainers, kLoopback);
    return alone;
  }
  Session& session() override { return session_; }

 private:
  SoloSession session_;
  std::string name_;
};

}  // namespace paddle_launch
