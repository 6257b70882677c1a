// SPDX-License-Identifier: Apache-2.0
// How a meeting ends well: everyone's place, and the roster for all.
#include <utility>

#include "launcher/channel/hub_channel.h"
#include "launcher/channel/packed_pods.h"
#include "launcher/os/ipv4.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/hub_meeting.h"
#include "launcher/rendezvous/node_order.h"
#include "launcher/rendezvous/shared_nodes.h"

namespace paddle_launch {

// Each member's place in the roster, and my own under kMyself.
std::map<int, int> HubMeeting::places() const {
  std::vector<int> members = {kMyself};
  const std::uint32_t my_address =
      settings_.listen_on.value_or(parse_ipv4(mine_.offer.host).value_or(0));
  std::vector<ArrivedNode> nodes = {{claim_.place, my_address, true}};
  for (const auto& [member, offer] : arrived_) {
    const auto address = parse_ipv4(offer.offer.host);
    members.push_back(member);
    nodes.push_back({offer.claim.place, address.value_or(hub_->address_of(member)), false});
  }
  const std::vector<int> order = order_nodes(nodes, claim_.sort_ip);
  std::map<int, int> places;
  for (std::size_t i = 0; i < members.size(); ++i) places[members[i]] = order[i];
  return places;
}

// Of several networks, the one that most members of other nodes came over.
std::uint32_t HubMeeting::address_of_most() const {
  std::vector<std::uint32_t> addresses;
  for (const auto& [member, offer] : arrived_) {
    const bool is_neighbour = are_neighbours(settings_.node_of, claim_.place, offer.claim.place);
    if (is_neighbour) continue;
    if (const auto address = hub_->reached_by(member)) addresses.push_back(*address);
  }
  return most_frequent(std::move(addresses)).value_or(kLoopback);
}

Met HubMeeting::complete(const GiftMaker& gift) {
  const std::uint32_t reached_at = address_of_most();
  if (mine_.offer.host.empty()) mine_.offer.host = format_ipv4(reached_at);
  Roster roster;
  roster.pods.resize(static_cast<std::size_t>(claim_.nodes));
  roster.node_of = settings_.node_of;
  std::map<int, int> members = places();
  int trainers = 0;
  for (const auto& [member, place] : members) {
    const PodOffer& offer = member == kMyself ? mine_.offer : arrived_.at(member).offer;
    roster.pods.at(static_cast<std::size_t>(place)) = offer;
    trainers += static_cast<int>(offer.trainers.size());
  }
  share_addresses_of_nodes(roster);
  roster.mine = static_cast<std::size_t>(members.at(kMyself));
  members.erase(kMyself);
  RosterMessage message{.mine = 0,
                        .hub = static_cast<int>(roster.mine),
                        .packed_pods = pack_pods(roster.pods, claim_.ips),
                        .warnings = oddities(mine_, arrived_),
                        .gift = gift ? gift(trainers, reached_at) : std::string()};
  for (const auto& [member, place] : members) {
    message.mine = place;
    hub_->send(member, message);
  }
  auto channel = std::make_unique<HubChannel>(loop_, std::move(hub_), roster, std::move(members));
  return {.roster = std::move(roster),
          .channel = std::move(channel),
          .warnings = std::move(message.warnings),
          .gift = std::move(message.gift)};
}

}  // namespace paddle_launch
