// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/job/pod.h"

namespace paddle_launch {
namespace {

using Names = std::vector<std::vector<ProcessName>>;

PodOffer with_trainers(std::size_t trainers) {
  PodOffer pod;
  pod.trainers.resize(trainers);
  return pod;
}

PodOffer with_roles(std::vector<RoleOffer> roles) {
  PodOffer pod;
  pod.roles = std::move(roles);
  return pod;
}

TEST(NamesOfPods, RanksGoOnFromPodToPod) {
  EXPECT_EQ(names_of_pods({.pods = {with_trainers(2), with_trainers(0), with_trainers(1)}}),
            (Names{{{Role::Trainer, 0}, {Role::Trainer, 1}}, {}, {{Role::Trainer, 2}}}));
}

TEST(NamesOfPods, APlaceThatSomebodyAskedForIsKept) {
  EXPECT_EQ(names_of_pods({.pods = {with_roles({{.role = Role::Server, .index = 1},
                                                {.role = Role::Trainer, .index = 3}}),
                                    with_roles({{.role = Role::Server, .index = 0}})}}),
            (Names{{{Role::Server, 1}, {Role::Trainer, 3}}, {{Role::Server, 0}}}));
}

TEST(NamesOfPods, EachRoleIsCountedByItself) {
  const PodOffer pod = with_roles({{.role = Role::Server}, {.role = Role::Trainer}});
  EXPECT_EQ(names_of_pods({.pods = {pod, pod}}), (Names{{{Role::Server, 0}, {Role::Trainer, 0}},
                                                        {{Role::Server, 1}, {Role::Trainer, 1}}}));
}

TEST(NamesOfPods, HeterogeneousWorkersAreCountedStageByStage) {
  const PodOffer pod = with_roles(
      {{.role = Role::HeterWorker, .stage = 2}, {.role = Role::HeterWorker, .stage = 3}});
  EXPECT_EQ(names_of_pods({.pods = {pod, pod}}),
            (Names{{{Role::HeterWorker, 0}, {Role::HeterWorker, 2}},
                   {{Role::HeterWorker, 1}, {Role::HeterWorker, 3}}}));
}

TEST(Roster, KnowsWhichPodsShareTheirNode) {
  const Roster roster{.pods = std::vector<PodOffer>(4), .node_of = {0, 1, 1, 2}};
  EXPECT_FALSE(roster.shares_its_node(0));
  EXPECT_TRUE(roster.shares_its_node(1));
  EXPECT_TRUE(roster.shares_its_node(2));
  EXPECT_FALSE(roster.shares_its_node(3));
  const Roster each_alone{.pods = std::vector<PodOffer>(2)};
  EXPECT_FALSE(each_alone.shares_its_node(1));
}

}  // namespace
}  // namespace paddle_launch
