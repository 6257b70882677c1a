// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/rendezvous/task_group.h"

namespace paddle_launch {
namespace {

TEST(MostFrequent, IsTheSmallestOfThoseThatAreThereMostOften) {
  EXPECT_EQ(most_frequent({3, 1, 3, 2, 2}), 2U);
  EXPECT_EQ(most_frequent({7}), 7U);
  EXPECT_EQ(most_frequent({}), std::nullopt);
}

TEST(AreNeighbours, KnowsPodsOfOneNode) {
  EXPECT_TRUE(are_neighbours({0, 0, 1}, 0, 1));
  EXPECT_FALSE(are_neighbours({0, 0, 1}, 1, 2));
  EXPECT_FALSE(are_neighbours({}, 0, 0));
}

TEST(ShareAddressesOfNodes, GivesEveryPodTheAddressOfItsNodesFirst) {
  Roster roster{.pods = std::vector<PodOffer>(4), .mine = 0, .node_of = {0, 0, 1, 1}};
  for (std::size_t pod = 0; pod < 4; ++pod) roster.pods[pod].host = std::to_string(pod);
  share_addresses_of_nodes(roster);
  EXPECT_EQ(roster.pods[1].host, "0");
  EXPECT_EQ(roster.pods[3].host, "2");
}

}  // namespace
}  // namespace paddle_launch
