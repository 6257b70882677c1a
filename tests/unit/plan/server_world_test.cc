// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/plan/world.h"
#include "tests/unit/plan/server_job.h"

namespace paddle_launch {
namespace {

std::vector<std::string> endpoints(const std::vector<RoleProcess>& list) {
  std::vector<std::string> texts;
  for (const RoleProcess& process : list) texts.push_back(process.endpoint());
  return texts;
}

TEST(PlanServerWorld, ListsKeepTheirOrderWhereverTheProcessesAre) {
  const ServerWorld world = world_of(interleaved(), {"n1", "n3", "n2"}, 2);
  EXPECT_EQ(endpoints(world.servers), interleaved().servers);
  EXPECT_EQ(endpoints(world.workers), interleaved().workers);
  EXPECT_EQ(world.workers[0].pod, 2U);
  EXPECT_EQ(world.workers[2].on_node, 1);
  EXPECT_EQ(world.gloo_endpoint, "n1:6000");
  EXPECT_EQ(world.nodes, 3);
}

TEST(PlanServerWorld, NumbersCountForEachNode) {
  const ServerWorld world = world_of(numbers(1, 2), {"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(endpoints(world.servers), (std::vector<std::string>{"10.0.0.1:7000", "10.0.0.2:7000"}));
  EXPECT_EQ(endpoints(world.workers), (std::vector<std::string>{"10.0.0.1:7001", "10.0.0.1:7002",
                                                                "10.0.0.2:7001", "10.0.0.2:7002"}));
}

TEST(PlanServerWorld, ALauncherForEachWorkerMakesTheSameWorldAsOneForANode) {
  const ServerSpec spec = numbers(1, 2);
  Roster roster{.pods = {}, .mine = 1, .node_of = {0, 0, 1, 1}};
  for (const std::string host : {"10.0.0.1", "10.0.0.2"}) {
    for (int local = 0; local < 2; ++local) {
      roster.pods.push_back(pod_at(spec, host, {.local = local, .launchers = 2}));
    }
  }
  const ServerWorld world = plan_server_world(roster, {});
  ASSERT_EQ(world.workers.size(), 4U);
  EXPECT_EQ(world.workers[1].host, "10.0.0.1");
  EXPECT_EQ(world.workers[1].on_node, 1);
  EXPECT_EQ(world.workers[2].host, "10.0.0.2");
  EXPECT_EQ(world.nodes, 2);
  EXPECT_FALSE(world.first_on_node);
}

TEST(PlanServerWorld, HeterogeneousWorkersAreCountedByStages) {
  ServerSpec spec = numbers(1, 1);
  spec.heter_worker_num = {1, 2};
  const ServerWorld world = world_of(spec, {"n1", "n2"});
  ASSERT_EQ(world.heter_workers.size(), 6U);
  std::vector<int> stages;
  for (const RoleProcess& process : world.heter_workers) stages.push_back(process.stage);
  EXPECT_EQ(stages, (std::vector<int>{2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(world.heter_workers[1].host, "n2");
}

TEST(PlanServerWorld, TheUsersPortIsGloosMeetingPoint) {
  ServerSpec spec = interleaved();
  spec.http_port = 8900;
  EXPECT_EQ(world_of(spec, {"n1", "n3", "n2"}).gloo_endpoint, "n1:8900");
}

TEST(PlanServerWorld, APlaceThatNobodyFillsIsAnError) {
  EXPECT_THROW(world_of(interleaved(), {"n1", "n3"}), LaunchError);
  EXPECT_THROW(world_of(interleaved(), {"n1", "n3", "n2", "n2"}), LaunchError);
}

}  // namespace
}  // namespace paddle_launch
