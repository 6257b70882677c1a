// SPDX-License-Identifier: Apache-2.0
// How this pod finds the others.
#pragma once

#include "launcher/job/roster.h"

namespace paddle_launch {

class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  // Blocks until the pods of this round are complete; every pod gets the same order.
  virtual Roster meet(const PodOffer& mine) = 0;
};

}  // namespace paddle_launch
