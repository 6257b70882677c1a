// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/server_env.h"

#include <gtest/gtest.h>

#include "tests/unit/plan/server_job.h"

namespace paddle_launch {
namespace {

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

}  // namespace
}  // namespace paddle_launch
