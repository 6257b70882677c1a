// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/rendezvous/places.h"

namespace paddle_launch {
namespace {

TEST(NodeOrder, TheHubIsFirstAndTheRestGoByAddress) {
  EXPECT_EQ(order_nodes({{{}, 9, true}, {{}, 5, false}, {{}, 3, false}}, false),
            (std::vector<int>{0, 2, 1}));
}

TEST(NodeOrder, SortedByAddressTheHubHasNoPrivilege) {
  EXPECT_EQ(order_nodes({{{}, 9, true}, {{}, 5, false}, {{}, 3, false}}, true),
            (std::vector<int>{2, 1, 0}));
}

TEST(NodeOrder, ExplicitRanksComeFirst) {
  EXPECT_EQ(order_nodes({{{}, 9, true}, {0, 5, false}, {{}, 3, false}, {2, 1, false}}, false),
            (std::vector<int>{1, 0, 3, 2}));
}

TEST(NodeOrder, TheSameAddressKeepsTheOrderOfArrival) {
  EXPECT_EQ(order_nodes({{{}, 1, true}, {{}, 1, false}, {{}, 1, false}}, false),
            (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace paddle_launch
