// SPDX-License-Identifier: Apache-2.0
// What pods of a job with parameter servers bring, in the roster.
#include <utility>

#include <gtest/gtest.h>

#include "launcher/channel/packed_pods.h"

namespace paddle_launch {
namespace {

using Pods = std::vector<PodOffer>;

constexpr int kPods = 4096;

void expect_there_and_back(const Pods& pods) {
  std::vector<std::string> hosts;
  for (const PodOffer& pod : pods) hosts.push_back(pod.host);
  EXPECT_EQ(unpack_pods(pack_pods(pods, {}), {}), pods);
  EXPECT_EQ(unpack_pods(pack_pods(pods, hosts), hosts), pods);
}

PodOffer ps_pod(const std::string& host, std::vector<RoleOffer> roles) {
  PodOffer pod;
  pod.host = host;
  pod.roles = std::move(roles);
  return pod;
}

TEST(PackRoles, KeepsRoles) {
  const RoleOffer server{.role = Role::Server, .stage = 1, .index = -1, .port = 6170};
  const RoleOffer worker{.role = Role::Trainer, .stage = 1, .index = 10'000'000, .port = 0};
  const RoleOffer heter{.role = Role::HeterWorker, .stage = 1000, .index = 0, .port = 65'535};
  Pods pods = {ps_pod("10.0.0.1", {server, worker}), ps_pod("10.0.0.1", {server, worker}),
               ps_pod("10.0.0.2", {}), ps_pod("10.0.0.3", {heter}),
               ps_pod("node", std::vector<RoleOffer>(300, heter))};
  pods[3].trainers = {{.cards = {}, .port = 6070}, {.cards = {}, .port = 7070}};
  expect_there_and_back(pods);
}

TEST(PackRoles, TakesAtMostSixteenBytesForAServerAndAWorker) {
  Pods pods;
  for (int i = 0; i < kPods; ++i) {
    pods.push_back(ps_pod("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250),
                          {{.role = Role::Server, .stage = 1, .index = -1, .port = 40'000},
                           {.role = Role::Trainer, .stage = 1, .index = -1, .port = 40'001}}));
  }
  EXPECT_LE(pack_pods(pods, {}).size(), std::size_t{kPods} * 16);
  expect_there_and_back(pods);
}

TEST(PackRoles, BringsRolesIntoTheirRange) {
  const Pods pods = {
      ps_pod("a", {{.role = Role::Server, .stage = -1, .index = -7, .port = 70'000},
                   {.role = Role::Server, .stage = 1001, .index = 20'000'000, .port = -1}})};
  const std::vector<RoleOffer> expected = {
      {.role = Role::Server, .stage = 0, .index = -1, .port = 65'535},
      {.role = Role::Server, .stage = 1000, .index = 10'000'000, .port = 0}};
  const auto unpacked = unpack_pods(pack_pods(pods, {}), {});
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(unpacked->at(0).roles, expected);
}

TEST(UnpackRoles, RefusesRolesThatCannotBe) {
  // One pod with the host "a", the shape of the one before, no trainers, and these roles.
  const auto pod_with = [](const std::string& roles) {
    return unpack_pods(std::string("\x02\0\0\x16\x01"
                                   "a\0\0",
                                   8) +
                           roles,
                       {});
  };
  const auto good = pod_with("\x01\x01\x02\x01\x1a\x18");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->at(0),
            ps_pod("a", {{.role = Role::Server, .stage = 1, .index = -1, .port = 6170}}));
  EXPECT_FALSE(pod_with("\x01\x03\x02\x01\x1a\x18")) << "no such role";
  EXPECT_FALSE(pod_with("\x01\x01\xd2\x0f\x01\x1a\x18")) << "stage 1001";
  EXPECT_FALSE(pod_with("\x01\x01\x02\x82\xda\xc4\x09\x1a\x18")) << "10000001";
  EXPECT_FALSE(pod_with("\x02\x01\x02\x01\x1a\x18")) << "one is missing";
}

}  // namespace
}  // namespace paddle_launch
