// SPDX-License-Identifier: Apache-2.0
// Pods meet in a star over TCP: the hub listens, the others come to it. Where it is, the user typed
// or a scheduler said. Later rounds use the connections of the first.
#pragma once

#include <memory>
#include <vector>

#include "launcher/channel/hub_session.h"
#include "launcher/channel/member_session.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/tcp_settings.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class Star {
 public:
  // `listener`: the hub's, where somebody has told the others already where it listens.
  Star(EventLoop& loop, TcpSettings settings, Narrator& narrator, UniqueFd listener = {});

  // As Rendezvous::gather(). `mine`: with the place that this pod claims in the first round.
  Gathered gather(const RoundState& round, OfferMessage mine, const PayloadMaker& payload);
  Session& session() { return *session_; }

 private:
  UniqueFd listen(const PodOffer& mine);
  Gathered gather_first(OfferMessage mine, const PayloadMaker& payload);
  Gathered join_first(OfferMessage mine);
  Gathered gather_again(const RoundState& round, const OfferMessage& mine,
                        const PayloadMaker& payload);
  Gathered join_again(const OfferMessage& mine);
  bool is_first_on_node() const;

  EventLoop& loop_;
  TcpSettings settings_;
  Narrator& narrator_;
  UniqueFd listener_;             // until there is a session
  std::vector<int> ports_taken_;  // where the hub was expected and somebody else is
  std::unique_ptr<Session> session_;
  HubSession* hub_session_ = nullptr;  // one of both is the session
  MemberSession* member_session_ = nullptr;
  Roster last_;  // of the last round
};

}  // namespace paddle_launch
