// SPDX-License-Identifier: Apache-2.0
// How a meeting ends well: everyone's place, and the roster for all.
#include <utility>

#include "launcher/rendezvous/give_roster.h"
#include "launcher/rendezvous/hub_meeting.h"
#include "launcher/rendezvous/node_order.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {

// Each member's place in the roster, and my own under kMyself.
std::map<int, int> HubMeeting::places() const {
  std::vector<int> members = {kMyself};
  const std::uint32_t my_address =
      settings_.listen_on.value_or(parse_ipv4(mine_.offer.host).value_or(0));
  std::vector<ArrivedNode> nodes = {{terms_.place, my_address, true}};
  for (const auto& [member, offer] : arrived_) {
    const auto address = parse_ipv4(offer.offer.host);
    members.push_back(member);
    nodes.push_back({offer.terms.place, address.value_or(hub_->address_of(member)), false});
  }
  const std::vector<int> order = order_nodes(nodes, terms_.sort_ip);
  std::map<int, int> places;
  for (std::size_t i = 0; i < members.size(); ++i) places[members[i]] = order[i];
  return places;
}

Met HubMeeting::complete(const PayloadMaker& payload) {
  CompleteMeeting meeting{
      .places = places(), .offers = arrived_, .mine = mine_, .node_of = settings_.node_of};
  meeting.my_place = meeting.places.at(kMyself);
  meeting.places.erase(kMyself);
  Roster roster = make_roster(*hub_, meeting);
  return give_roster(std::move(hub_), meeting, std::move(roster), payload);
}

}  // namespace paddle_launch
