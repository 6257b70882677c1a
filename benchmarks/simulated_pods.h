// SPDX-License-Identifier: Apache-2.0
// Many pods that meet over the loopback interface: what each of them claims and offers, and the two
// processes that play them. The hub is the launcher's own; the others share one process and one
// loop, and are made of the same parts as a launcher that joins.
#pragma once

#include <string>

#include "launcher/rendezvous/tcp_settings.h"

namespace paddle_launch {

struct SimulatedJob {
  int pods = 0;
  bool by_list = true;  // --ips; otherwise --master and --nnodes
  std::string name;     // another job on this machine has another one
};

TcpSettings settings_of(const SimulatedJob& job);
JobTerms terms_of(const SimulatedJob& job, int place);
PodOffer offer_of(int place);

// Says "ready" when it listens, and its costs when it is told to end (SIGTERM).
void play_hub(const SimulatedJob& job);
// Says how long it took until the last of the others had the roster, and what it took.
void play_members(const SimulatedJob& job);

}  // namespace paddle_launch
