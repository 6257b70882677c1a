// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/world.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

PodOffer pod(const std::string& host, std::vector<std::string> cards) {
  PodOffer offer{.name = "abcdef",
                 .host = host,
                 .card_kind = CardKind::Gpu,
                 .trainers = {},
                 .master_port = 6000};
  int port = 7000;
  for (const std::string& card : cards)
    offer.trainers.push_back({.cards = {{card, card, {}}}, .port = port++});
  return offer;
}

TEST(PlanWorld, RankIsNodeTimesCardsPlusLocalRank) {
  const WorldPlan world = plan_world(
      {.pods = {pod("192.168.0.1", {"0", "1"}), pod("192.168.0.2", {"2", "3"})}, .mine = 1});
  ASSERT_EQ(world.trainers.size(), 4U);
  for (const Trainer& trainer : world.trainers)
    EXPECT_EQ(trainer.rank, trainer.node * 2 + trainer.local_rank);
  EXPECT_EQ(world.trainers[3].endpoint, "192.168.0.2:7001");
  EXPECT_EQ(world.trainers[3].cards.front().name, "3");
  EXPECT_EQ(world.first_mine, 2);
  EXPECT_EQ(world.my_count, 2);
}

TEST(PlanWorld, TheMasterIsOnTheFirstPodWithAPortOfItsOwn) {
  const WorldPlan world =
      plan_world({.pods = {pod("192.168.0.1", {"0"}), pod("192.168.0.2", {"0"})}, .mine = 1});
  EXPECT_EQ(world.master, "192.168.0.1:6000");
}

}  // namespace
}  // namespace paddle_launch
