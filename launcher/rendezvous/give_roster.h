// SPDX-License-Identifier: Apache-2.0
// How a meeting ends well, on both sides: the hub gives everyone the same roster, and a member
// reads it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/channel/hub_session.h"
#include "launcher/channel/message.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

// All that the hub knows when the pods are complete.
struct CompleteMeeting {
  std::map<int, int> places{};           // of each member that takes part
  std::map<int, OfferMessage> offers{};  // theirs
  int my_place = 0;
  OfferMessage mine{};
  std::vector<int> node_of{};  // of each place; empty: every pod has a node of its own
  RoundState round{};
  std::map<int, OfferMessage> spares{};  // connected, and without a place
};

// The roster as all will have it.
Roster make_roster(const Hub& hub, CompleteMeeting& meeting);
// Everyone gets it, and the round begins for the session.
Gathered give_roster(HubSession& session, const CompleteMeeting& meeting, Roster roster,
                     const PayloadMaker& payload);

// None: it makes no sense. Names, cards and ports of the reader's own are as it knows them.
std::optional<Roster> read_roster(const RosterMessage& message, const std::vector<std::string>& ips,
                                  PodOffer mine);

}  // namespace paddle_launch
