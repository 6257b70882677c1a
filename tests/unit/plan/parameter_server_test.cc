// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/parameter_server.h"

#include <gtest/gtest.h>

#include "tests/unit/plan/server_job.h"

namespace paddle_launch {
namespace {

const Program kProgram{"/usr/bin/python3", {"python3", "-u", "train.py"}};

PodPlan plan_of(const ServerSpec& spec, const ServerWorld& world, const CardsOfNode& cards = {},
                const Environment& user = {}) {
  JobSpec job;
  job.servers = spec;
  return plan_servers(world, job, kSettings, {.program = kProgram, .cards = cards}, user);
}

TEST(PlanServers, ServersComeFirstAndTheRestIsHeldBack) {
  const PodPlan plan = plan_of(heter(), world_of(heter(), {"127.0.0.1"}));
  ASSERT_EQ(plan.processes.processes.size(), 6U);
  EXPECT_EQ(plan.processes.processes[0].log_path, "/logs/serverlog.0");
  EXPECT_EQ(plan.processes.processes[1].log_path, "/logs/workerlog.0");
  EXPECT_EQ(plan.processes.processes[5].log_path, "/logs/heterlog.2");
  EXPECT_EQ(plan.processes.held_back, 5);
  EXPECT_EQ(plan.processes.followed, 1);
  EXPECT_EQ(plan.processes.world_size, 2);
}

TEST(PlanServers, ANodeWithoutWorkerZeroShowsItsFirstProcess) {
  const PodPlan plan = plan_of(interleaved(), world_of(interleaved(), {"n1", "n3", "n2"}, 1));
  EXPECT_EQ(plan.processes.followed, 0);
  EXPECT_EQ(plan.processes.held_back, 0);
  const PodPlan workers = plan_of(interleaved(), world_of(interleaved(), {"n1", "n3", "n2"}, 2));
  EXPECT_EQ(workers.processes.held_back, 2);
}

TEST(PlanServers, EndpointsLogHasBothLists) {
  EXPECT_EQ(plan_of(interleaved(), world_of(interleaved(), {"n1", "n3", "n2"})).endpoints_log,
            "PADDLE_TRAINER_ENDPOINTS:\nn2:6172\nn1:6173\nn2:6174\nn1:6175\n"
            "PADDLE_PSERVERS_IP_PORT_LIST:\nn1:6170\nn3:6171\n");
}

TEST(PlanServers, NoProcessInheritsWhatIsAnotherOnes) {
  const Environment user = {{"PADDLE_TRAINER_ID", "7"},
                            {"PADDLE_TRAINING_ROLE", "PSERVER"},
                            {"CUDA_VISIBLE_DEVICES", "3"},
                            {"HOME", "/root"}};
  const PodPlan plan =
      plan_of(interleaved(), world_of(interleaved(), {"n1", "n3", "n2"}), {}, user);
  EXPECT_EQ(as_map(plan.processes.inherited), (Variables{{"HOME", "/root"}}));
  EXPECT_EQ(as_map(plan.processes.processes[0].env).at("CUDA_VISIBLE_DEVICES"), "3");
}

TEST(PlanServers, AllProcessesKnowWhichTryThisIsAndNoneOfAnOuterJobs) {
  const Environment user = {
      {"PADDLE_LAUNCH_ROUND", "8"}, {"PADDLE_RESTART_COUNT", "8"}, {"HOME", "/root"}};
  PaddleEnvSettings settings = kSettings;
  settings.round = {.number = 3, .restarts = 1};
  JobSpec job;
  job.servers = interleaved();
  const PodPlan plan = plan_servers(world_of(interleaved(), {"n1", "n3", "n2"}), job, settings,
                                    {.program = kProgram}, user);
  EXPECT_EQ(as_map(plan.processes.inherited), (Variables{{"HOME", "/root"}}));
  EXPECT_EQ(as_map(plan.processes.common_env).at("PADDLE_LAUNCH_ROUND"), "3");
  EXPECT_EQ(as_map(plan.processes.common_env).at("PADDLE_RESTART_COUNT"), "1");
}

TEST(PlanServers, EachProcessHasItsNumberOfThreads) {
  JobSpec job;
  job.servers = interleaved();
  const PodPlan plan = plan_servers(world_of(interleaved(), {"n1", "n3", "n2"}), job, kSettings,
                                    {.program = kProgram, .omp_threads = {1, 2, 3, 4}}, {});
  ASSERT_FALSE(plan.processes.processes.empty());
  for (std::size_t i = 0; i < plan.processes.processes.size(); ++i) {
    EXPECT_EQ(as_map(plan.processes.processes[i].env).at("OMP_NUM_THREADS"), std::to_string(i + 1));
  }
}

TEST(PlanAsItIs, TheEnvironmentStaysAsItIs) {
  ServerSpec spec;
  spec.as_it_is = ProcessName{Role::Server, 1};
  spec.servers = {"n1:1", "n2:2"};
  const Environment user = {{"TRAINING_ROLE", "PSERVER"}, {"http_proxy", "x"}};
  const PodPlan plan = plan_as_it_is(spec, kSettings, kProgram, user);
  ASSERT_EQ(plan.processes.processes.size(), 1U);
  EXPECT_EQ(plan.processes.processes[0].log_path, "/logs/serverlog.1");
  EXPECT_EQ(as_map(plan.processes.inherited), Variables(user.begin(), user.end()));
  EXPECT_EQ(plan.processes.held_back, 0);
  EXPECT_TRUE(plan.processes.processes[0].has_stdin);
}

}  // namespace
}  // namespace paddle_launch
