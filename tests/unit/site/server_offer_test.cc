// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/server_offer.h"

#include <gtest/gtest.h>

#include "tests/unit/plan/server_job.h"

namespace paddle_launch {
namespace {

TEST(RolesOfPod, AListGivesEachNodeItsOwnEntriesWithTheirPlaces) {
  const auto roles = roles_of_pod(interleaved(), "n1", {});
  ASSERT_EQ(roles.size(), 3U);
  EXPECT_EQ(roles[0], (RoleOffer{Role::Server, 1, 0, 6170}));
  EXPECT_EQ(roles[1], (RoleOffer{Role::Trainer, 1, 1, 6173}));
  EXPECT_EQ(roles[2], (RoleOffer{Role::Trainer, 1, 3, 6175}));
  EXPECT_EQ(roles_of_pod(interleaved(), "n3", {}).size(), 1U);
}

TEST(RolesOfPod, AHostThatBeginsLikeAnotherIsAnother) {
  ServerSpec spec;
  spec.servers = {"10.0.0.12:6170"};
  spec.workers = {"10.0.0.1:6171"};
  const auto roles = roles_of_pod(spec, "10.0.0.1", {});
  ASSERT_EQ(roles.size(), 1U);
  EXPECT_EQ(roles[0].role, Role::Trainer);
}

TEST(RolesOfPod, LaunchersOfANodeShareItsWorkersAndTheFirstHasItsServers) {
  const auto first = roles_of_pod(numbers(2, 5), "", {.local = 0, .launchers = 3});
  const auto last = roles_of_pod(numbers(2, 5), "", {.local = 2, .launchers = 3});
  EXPECT_EQ(first.size(), 4U);
  EXPECT_EQ(last.size(), 1U);
  EXPECT_EQ(last.front().role, Role::Trainer);
  EXPECT_EQ(roles_of_pod(numbers(1, 1), "", {.local = 1, .launchers = 2}).size(), 0U);
}

TEST(RolesOfPod, ASingleProcessIsAllThatAPodHas) {
  ServerSpec spec;
  spec.servers = {"ps0:6174", "ps1:6174"};
  spec.single = SingleProcess{.mine = {Role::Trainer, 1}};
  EXPECT_EQ(roles_of_pod(spec, "", {}), (std::vector<RoleOffer>{{Role::Trainer, 1, 1, 0}}));
  spec.single->mine = {Role::Server, 1};
  EXPECT_EQ(roles_of_pod(spec, "ps1", {}), (std::vector<RoleOffer>{{Role::Server, 1, 1, 6174}}));
}

TEST(OffsetOf, ServersWorkersAndHeterogeneousWorkersFollowEachOther) {
  ServerSpec spec = numbers(1, 2);
  spec.heter_worker_num = {1};
  EXPECT_EQ(offset_of(spec, Role::Server, 0), 0);
  EXPECT_EQ(offset_of(spec, Role::Trainer, 1), 2);
  EXPECT_EQ(offset_of(spec, Role::HeterWorker, 0), 3);
  EXPECT_EQ(processes_of_node(spec), 4);
}

TEST(NotForOldVariables, OnePortForAllAndOneServerAHost) {
  EXPECT_FALSE(not_for_old_variables({"n1:6174", "n2:6174"}));
  EXPECT_NE(not_for_old_variables({"n1:6174", "n2:6175"})->find("6174 and 6175"),
            std::string::npos);
  EXPECT_NE(not_for_old_variables({"n1:6174", "n1:6175"})->find("two servers"), std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
