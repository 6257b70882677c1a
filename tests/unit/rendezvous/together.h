// SPDX-License-Identifier: Apache-2.0
// A pod that has met the others over TCP.
#pragma once

#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/star.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class Together {
 public:
  Together(EventLoop& loop, const TcpSettings& settings, const JobTerms& terms,
           const PodOffer& offer, const PayloadMaker& payload = {})
      : star_(loop, settings, nobody_),
        met(star_.gather({}, offer_message(terms, offer), payload)) {}

  Session& session() { return star_.session(); }

 private:
  Narrator nobody_;
  Star star_;

 public:
  const Gathered met;
};

}  // namespace paddle_launch
