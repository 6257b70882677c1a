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

TEST(PlanWorld, OnlyWhereRankZeroIsThereIsADoorBeforeItsStore) {
  const std::vector<PodOffer> pods = {pod("192.168.0.1", {"0"}), pod("192.168.0.2", {"0"})};
  EXPECT_EQ(plan_world({.pods = pods, .mine = 0}, 6001).store, "192.168.0.1:6001");
  EXPECT_EQ(plan_world({.pods = pods, .mine = 1}, 6001).store, "");
  EXPECT_EQ(plan_world({.pods = pods, .mine = 0}).store, "");
  EXPECT_EQ(plan_world({.pods = {pods[0]}, .mine = 0}, 6001).store, "");  // alone
}

TEST(PlanWorld, APodIsANodeWhereNothingElseIsSaid) {
  const WorldPlan world = plan_world(
      {.pods = {pod("192.168.0.1", {"0", "1"}), pod("192.168.0.2", {"0", "1"})}, .mine = 1});
  EXPECT_EQ(world.nodes, 2);
  EXPECT_EQ(world.local_size, 2);
  EXPECT_TRUE(world.first_on_node);
}

PodOffer half(const std::string& name, const std::string& host, std::vector<std::string> cards,
              int first_port) {
  PodOffer offer = pod(host, std::move(cards));
  offer.name = name;
  for (TrainerOffer& trainer : offer.trainers) trainer.port = first_port++;
  return offer;
}

// Two launchers on each of two nodes, and one on each.
Roster four_pods(std::size_t mine) {
  return {.pods = {half("aaaaaa", "192.168.0.1", {"0", "1"}, 7000),
                   half("bbbbbb", "192.168.0.1", {"2", "3"}, 7002),
                   half("cccccc", "192.168.0.2", {"0", "1"}, 7000),
                   half("dddddd", "192.168.0.2", {"2", "3"}, 7002)},
          .mine = mine,
          .node_of = {0, 0, 1, 1}};
}

Roster two_pods(std::size_t mine) {
  return {.pods = {half("aaaaaa", "192.168.0.1", {"0", "1", "2", "3"}, 7000),
                   half("cccccc", "192.168.0.2", {"0", "1", "2", "3"}, 7000)},
          .mine = mine};
}

TEST(PlanWorld, SeveralLaunchersOnANodeMakeTheSameWorldAsOne) {
  for (const std::size_t mine : {0U, 1U, 2U, 3U}) {
    const WorldPlan split = plan_world(four_pods(mine));
    const WorldPlan whole = plan_world(two_pods(mine / 2));
    EXPECT_EQ(split.trainers, whole.trainers);
    EXPECT_EQ(split.nodes, 2);
    EXPECT_EQ(split.local_size, 4);
    EXPECT_EQ(whole.local_size, 4);
    EXPECT_EQ(split.pod_name, whole.pod_name);
    EXPECT_EQ(split.master, whole.master);
    EXPECT_EQ(split.first_mine, static_cast<int>(mine) * 2);
    EXPECT_EQ(split.my_count, 2);
    EXPECT_EQ(split.first_on_node, mine % 2 == 0);
  }
}

TEST(PlanWorld, NodesMayHaveDifferentNumbersOfLaunchers) {
  const WorldPlan world = plan_world({.pods = {pod("192.168.0.1", {"0"}), pod("192.168.0.2", {"0"}),
                                               pod("192.168.0.2", {"1", "2"})},
                                      .mine = 2,
                                      .node_of = {0, 1, 1}});
  EXPECT_EQ(world.nodes, 2);
  EXPECT_EQ(world.local_size, 3);
  EXPECT_EQ(world.trainers[0].local_rank, 0);
  EXPECT_EQ(world.trainers[3].local_rank, 2);
  EXPECT_EQ(world.trainers[3].node, 1);
}

TEST(PlanWorld, APodWithoutANameDoesNotTakeItsNeighboursAway) {
  Roster roster = four_pods(1);
  roster.pods[0].name.clear();
  EXPECT_EQ(plan_world(roster).pod_name, "bbbbbb");
}

}  // namespace
}  // namespace paddle_launch
