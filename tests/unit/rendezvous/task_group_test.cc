// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/task_group.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

NodeFacts on(const std::string& node, const std::string& cards = "") {
  return {.node = node, .host = node, .visible_cards = cards};
}

TEST(GroupTasks, KeepsBlocksAsTheyAre) {
  const TaskGroup group = group_tasks({on("a"), on("a"), on("b"), on("b")}, 2);
  EXPECT_EQ(group.task_at, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(group.node_of, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(group.mine, 2);
  EXPECT_EQ(group.share, (NodeShare{.local = 0, .launchers = 2}));
}

TEST(GroupTasks, GivesCyclicPlacementsPaddlesOrder) {
  const TaskGroup group = group_tasks({on("a"), on("b"), on("a"), on("b")}, 1);
  EXPECT_EQ(group.task_at, (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(group.node_of, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(group.mine, 2);
  EXPECT_EQ(group.hosts, (std::vector<std::string>{"a", "a", "b", "b"}));
}

TEST(GroupTasks, OrdersNodesByTheirLowestTask) {
  EXPECT_EQ(group_tasks({on("z"), on("a")}, 0).hosts, (std::vector<std::string>{"z", "a"}));
}

TEST(GroupTasks, SeesThatEachLauncherWasGivenCardsOfItsOwn) {
  EXPECT_TRUE(group_tasks({on("a", "C=0;"), on("a", "C=1;")}, 0).share.own_cards);
  EXPECT_FALSE(group_tasks({on("a", "C=0,1;"), on("a", "C=0,1;")}, 0).share.own_cards);
  EXPECT_FALSE(group_tasks({on("a"), on("a")}, 0).share.own_cards);
  EXPECT_FALSE(group_tasks({on("a", "C=0;"), on("b", "C=0;")}, 0).share.own_cards);
}

TEST(GroupByCounts, PlacesTasksNodeByNode) {
  const TaskGroup group = group_by_counts({2, 1}, {"a", "b"}, 1, 0);
  EXPECT_EQ(group.mine, 2);
  EXPECT_EQ(group.nodes, 2);
  EXPECT_EQ(group.node_of, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(group.share, (NodeShare{.local = 0, .launchers = 1}));
}

TEST(DecodeCard, IsTheReverseOfEncodeCard) {
  const NodeFacts facts{.node = "slurm n1",
                        .host = "n1",
                        .addresses = {0x0a4d0001, 0xffffffff},
                        .visible_cards = "CUDA_VISIBLE_DEVICES=0,1;"};
  EXPECT_EQ(decode_facts(encode_facts(facts)), facts);
  EXPECT_EQ(decode_facts(encode_facts(facts) + "x"), std::nullopt);
  EXPECT_EQ(decode_facts(""), std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
