// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/give_roster.h"

#include <utility>

#include "launcher/channel/packed_pods.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

// Of several networks, the one that most members of other nodes came over.
std::uint32_t address_of_most(const Hub& hub, const CompleteMeeting& meeting) {
  std::vector<std::uint32_t> addresses;
  for (const auto& [member, place] : meeting.places) {
    if (are_neighbours(meeting.node_of, meeting.my_place, place) || !hub.has(member)) continue;
    if (const auto address = hub.reached_by(member)) addresses.push_back(*address);
  }
  return most_frequent(std::move(addresses)).value_or(kLoopback);
}

int trainers_of(const Roster& roster) {
  std::size_t trainers = 0;
  for (const PodOffer& pod : roster.pods) trainers += pod.trainers.size();
  return static_cast<int>(trainers);
}

}  // namespace

Roster make_roster(const Hub& hub, CompleteMeeting& meeting) {
  if (meeting.mine.offer.host.empty()) {
    meeting.mine.offer.host = format_ipv4(address_of_most(hub, meeting));
  }
  Roster roster;
  roster.pods.resize(meeting.places.size() + 1);
  roster.node_of = meeting.node_of;
  roster.mine = static_cast<std::size_t>(meeting.my_place);
  roster.pods.at(roster.mine) = meeting.mine.offer;
  for (const auto& [member, place] : meeting.places) {
    roster.pods.at(static_cast<std::size_t>(place)) = meeting.offers.at(member).offer;
  }
  share_addresses_of_nodes(roster);
  return roster;
}

Gathered give_roster(HubSession& session, const CompleteMeeting& meeting, Roster roster,
                     const PayloadMaker& payload) {
  Hub& hub = session.hub();
  const std::uint32_t reached_at = address_of_most(hub, meeting);
  RosterMessage message{
      .mine = 0,
      .hub = static_cast<int>(roster.mine),
      .packed_pods = pack_pods(roster.pods, meeting.mine.terms.ips),
      .warnings = oddities(meeting.mine, meeting.offers),
      .payload = payload ? payload(trainers_of(roster), reached_at) : std::string(),
      .round = meeting.round};
  hub.void_tickets();
  for (const auto& [member, place] : meeting.places) {
    message.mine = place;
    message.ticket = hub.give_ticket(member);
    hub.send(member, message);
  }
  session.begin(roster, meeting.places, meeting.spares);
  return {.roster = std::move(roster),
          .warnings = std::move(message.warnings),
          .payload = std::move(message.payload),
          .round = meeting.round};
}

std::optional<Roster> read_roster(const RosterMessage& message, const std::vector<std::string>& ips,
                                  PodOffer mine) {
  auto pods = unpack_pods(message.packed_pods, ips);
  const auto place = static_cast<std::size_t>(message.mine);
  if (!pods || place >= pods->size() || static_cast<std::size_t>(message.hub) >= pods->size()) {
    return std::nullopt;
  }
  // Pods that share a node share its address.
  mine.host = pods->at(place).host;
  pods->at(place) = std::move(mine);
  return Roster{.pods = std::move(*pods), .mine = place};
}

}  // namespace paddle_launch
