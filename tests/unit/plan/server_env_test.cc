// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/server_env.h"

#include <gtest/gtest.h>

#include "launcher/plan/old_env.h"
#include "launcher/plan/parameter_server.h"
#include "tests/unit/plan/server_job.h"

namespace paddle_launch {
namespace {

const PaddleEnvSettings kSettings{
    .backend = "auto", .log_dir = "/logs", .job_id = "default", .temporary_dir = "/tmp"};
const Program kProgram{"/usr/bin/python3", {"python3", "-u", "train.py"}};

ServerSpec heter() {
  ServerSpec spec;
  spec.server_num = 1;
  spec.worker_num = 2;
  spec.heter_worker_num = {1, 2};
  spec.heter_devices = {"gpu", "cpu"};
  return spec;
}

PodPlan plan_of(const ServerSpec& spec, const ServerWorld& world, const CardsOfNode& cards = {},
                const Environment& user = {}) {
  return plan_servers(world, spec, kSettings, kProgram, cards, user, false);
}

TEST(RoleEnv, AWorkersIdIsItsPlaceInTheList) {
  const ServerWorld world = world_of(interleaved(), {"n1", "n3", "n2"});
  const Variables env = as_map(role_env(world, interleaved(), world.workers[3], {}, {}));
  EXPECT_EQ(env.at("TRAINING_ROLE"), "TRAINER");
  EXPECT_EQ(env.at("PADDLE_TRAINER_ID"), "3");
  EXPECT_EQ(env.at("POD_IP"), "n1");
  EXPECT_EQ(env.at("PADDLE_PORT"), "6175");
}

TEST(RoleEnv, AServerFindsItsTextInTheListAndHasNoTrainerId) {
  const ServerWorld world = world_of(interleaved(), {"n1", "n3", "n2"});
  const Variables env = as_map(role_env(world, interleaved(), world.servers[1], {}, {}));
  EXPECT_EQ(env.at("TRAINING_ROLE"), "PSERVER");
  EXPECT_EQ(env.at("POD_IP") + ":" + env.at("PADDLE_PORT"), "n3:6171");
  EXPECT_EQ(env.count("PADDLE_TRAINER_ID"), 0U);
  EXPECT_EQ(env.count("CUDA_VISIBLE_DEVICES"), 0U);
  const Variables common = as_map(common_server_env(world, interleaved(), kSettings).common);
  EXPECT_EQ(common.at("PADDLE_PSERVERS_IP_PORT_LIST"), "n1:6170,n3:6171");
  EXPECT_EQ(common.at("PADDLE_TRAINERS_NUM"), "4");
}

TEST(RoleEnv, WorkersTakeTheCardsOfTheirNodeInTurns) {
  const ServerWorld world = world_of(interleaved(), {"n1", "n3", "n2"}, 2);
  const CardsOfNode cards{CardKind::Gpu, {{"4", "0", {}}, {"5", "1", {}}}};
  EXPECT_EQ(as_map(role_env(world, interleaved(), world.workers[0], cards, {}))
                .at("CUDA_VISIBLE_DEVICES"),
            "4");
  const Variables second = as_map(role_env(world, interleaved(), world.workers[2], cards, {}));
  EXPECT_EQ(second.at("CUDA_VISIBLE_DEVICES"), "5");
  EXPECT_EQ(second.at("FLAGS_selected_gpus"), "0");
}

TEST(RoleEnv, WhoeverHidTheCardsKeepsThemHidden) {
  const ServerWorld world = world_of(interleaved(), {"n1", "n3", "n2"});
  const Environment user = {{"CUDA_VISIBLE_DEVICES", ""}};
  EXPECT_EQ(
      as_map(role_env(world, interleaved(), world.workers[0], {}, user)).at("CUDA_VISIBLE_DEVICES"),
      "");
  EXPECT_EQ(
      as_map(role_env(world, interleaved(), world.workers[0], {}, {})).at("CUDA_VISIBLE_DEVICES"),
      "0");
}

TEST(RoleEnv, StagesKnowTheirNeighbours) {
  const ServerWorld world = world_of(heter(), {"127.0.0.1"});
  const Variables worker = as_map(role_env(world, heter(), world.workers[0], {}, {}));
  EXPECT_EQ(worker.at("STAGE_ID"), "1");
  EXPECT_EQ(worker.at("STAGE_NUM"), "3");
  EXPECT_EQ(worker.at("PADDLE_STAGE_TRAINERS_NUM"), "[2, 1, 2]");
  EXPECT_EQ(worker.at("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"), "");
  EXPECT_EQ(worker.at("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"), world.heter_workers[0].endpoint());
  EXPECT_EQ(worker.at("HETER_DEVICE_TYPE"), "cpu");
  const Variables second = as_map(role_env(world, heter(), world.heter_workers[0], {}, {}));
  EXPECT_EQ(second.at("TRAINING_ROLE"), "HETER_TRAINER");
  EXPECT_EQ(second.at("STAGE_ID"), "2");
  EXPECT_EQ(second.at("HETER_DEVICE_TYPE"), "gpu");
  EXPECT_EQ(second.count("PADDLE_TRAINER_ID"), 0U);
  EXPECT_EQ(second.at("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"),
            world.workers[0].endpoint() + "," + world.workers[1].endpoint());
  const Variables last = as_map(role_env(world, heter(), world.heter_workers[2], {}, {}));
  EXPECT_EQ(last.at("HETER_DEVICE_TYPE"), "cpu");
  EXPECT_EQ(last.at("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"), "");
}

TEST(RoleEnv, TheOldVariablesComeOnRequest) {
  ServerSpec spec = interleaved();
  spec.servers = {"n1:6174", "n3:6174"};
  const ServerWorld world = world_of(spec, {"n1", "n3", "n2"});
  EXPECT_EQ(as_map(role_env(world, spec, world.servers[0], {}, {})).count("PADDLE_PSERVER_IPS"),
            0U);
  spec.legacy_env = true;
  const Variables server = as_map(role_env(world, spec, world.servers[1], {}, {}));
  EXPECT_EQ(server.at("PADDLE_TRAINING_ROLE"), "PSERVER");
  EXPECT_EQ(server.at("PADDLE_PSERVER_IPS"), "n1,n3");
  EXPECT_EQ(server.at("PADDLE_PSERVER_PORT"), "6174");
  EXPECT_EQ(server.at("PADDLE_CURRENT_IP"), "n3");
  const Variables worker = as_map(role_env(world, spec, world.workers[2], {}, {}));
  EXPECT_EQ(worker.at("PADDLE_TRAINING_ROLE"), "TRAINER");
  EXPECT_EQ(worker.at("PADDLE_TRAINERS"), "4");
  EXPECT_EQ(worker.count("PADDLE_CURRENT_IP"), 0U);
}

TEST(NotForOldVariables, OnePortForAllAndOneServerAHost) {
  EXPECT_FALSE(not_for_old_variables({"n1:6174", "n2:6174"}));
  EXPECT_NE(not_for_old_variables({"n1:6174", "n2:6175"})->find("6174 and 6175"),
            std::string::npos);
  EXPECT_NE(not_for_old_variables({"n1:6174", "n1:6175"})->find("two servers"), std::string::npos);
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
  const PodPlan plan = plan_servers(world_of(interleaved(), {"n1", "n3", "n2"}), interleaved(),
                                    settings, kProgram, {}, user, false);
  EXPECT_EQ(as_map(plan.processes.inherited), (Variables{{"HOME", "/root"}}));
  EXPECT_EQ(as_map(plan.processes.common_env).at("PADDLE_LAUNCH_ROUND"), "3");
  EXPECT_EQ(as_map(plan.processes.common_env).at("PADDLE_RESTART_COUNT"), "1");
}

TEST(PlanAsItIs, TheEnvironmentStaysAsItIs) {
  ServerSpec spec;
  spec.as_it_is = ProcessName{Role::Server, 1};
  spec.servers = {"n1:1", "n2:2"};
  const Environment user = {{"TRAINING_ROLE", "PSERVER"}, {"http_proxy", "x"}};
  const PodPlan plan = plan_as_it_is(spec, kSettings, kProgram, user, false);
  ASSERT_EQ(plan.processes.processes.size(), 1U);
  EXPECT_EQ(plan.processes.processes[0].log_path, "/logs/serverlog.1");
  EXPECT_EQ(as_map(plan.processes.inherited), Variables(user.begin(), user.end()));
  EXPECT_EQ(plan.processes.held_back, 0);
}

}  // namespace
}  // namespace paddle_launch
