// SPDX-License-Identifier: Apache-2.0
// Nodes that were started by hand meet over TCP: the first one listens, the others come to it.
#pragma once

#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/tcp_settings.h"

namespace paddle_launch {

class Tcp final : public Rendezvous {
 public:
  Tcp(EventLoop& loop, TcpSettings settings);
  Met meet(const JobTerms& terms, const PodOffer& mine, const PayloadMaker& payload) override;

 private:
  UniqueFd listen(const PodOffer& mine, std::vector<int>& taken) const;

  EventLoop& loop_;
  TcpSettings settings_;
};

}  // namespace paddle_launch
