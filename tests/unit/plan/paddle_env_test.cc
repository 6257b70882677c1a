// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/paddle_env.h"

#include <map>

#include <gtest/gtest.h>

#include "tests/unit/plan/collective_job.h"

namespace paddle_launch {
namespace {

using Variables = std::map<std::string, std::string>;

Variables common(const WorldPlan& world, const Environment& user = {}) {
  const PaddleEnv env = common_env(world, kSettings, user);
  return {env.common.begin(), env.common.end()};
}

Variables own(const WorldPlan& world, std::size_t rank) {
  const auto env = trainer_env(world, world.trainers.at(rank));
  return {env.begin(), env.end()};
}

TEST(CommonEnv, TellsTheWholeWorld) {
  const Variables env = common(world_of(2, 1));
  EXPECT_EQ(env.at("PADDLE_TRAINERS_NUM"), "2");
  EXPECT_EQ(env.at("PADDLE_TRAINER_ENDPOINTS"), "127.0.0.1:7000,127.0.0.1:7001");
  EXPECT_EQ(env.at("PADDLE_WORLD_DEVICE_IDS"), "0,1");
  EXPECT_EQ(env.at("PADDLE_DISTRI_BACKEND"), "nccl");
}

TEST(CommonEnv, WithoutLogsNamesNoDirectoryAndPutsLongListsAmongTheTemporaryFiles) {
  PaddleEnvSettings settings = kSettings;
  settings.log_dir.clear();
  WorldPlan world = world_of(1, 0);
  world.pod_name = "abcdef";
  const PaddleEnv few = common_env(world, settings, {});
  for (const EnvVar& variable : few.common) EXPECT_NE(variable.first, "PADDLE_LOG_DIR");
  world.trainers.resize(20'000, world.trainers.front());
  EXPECT_EQ(common_env(world, settings, {}).backup_path,
            "/tmp/paddle-launch-backup_env-abcdef.json");
}

TEST(CommonEnv, OnTheCpuTheBackendIsGloo) {
  const Variables env = common(world_of(2, 0));
  EXPECT_EQ(env.at("PADDLE_DISTRI_BACKEND"), "gloo");
  EXPECT_EQ(env.at("PADDLE_WORLD_DEVICE_IDS"), ",");
}

TEST(CommonEnv, NamesACustomDeviceAsPaddleDoes) {
  WorldPlan world = world_of(2, 1);
  world.card_kind = CardKind::Npu;
  EXPECT_EQ(common(world).at("PADDLE_DISTRI_BACKEND"), "xccl");
  EXPECT_EQ(common(world).at("PADDLE_XCCL_BACKEND"), "npu");
  world.card_kind = CardKind::MetaxGpu;
  EXPECT_EQ(common(world).at("PADDLE_XCCL_BACKEND"), "metax_gpu");
  EXPECT_EQ(own(world, 1).at("FLAGS_selected_metax_gpus"), "1");
  world.card_kind = CardKind::Npu;
  PaddleEnvSettings settings = kSettings;
  settings.backend = "hccl";
  for (const EnvVar& variable : common_env(world, settings, {}).common) {
    EXPECT_NE(variable.first, "PADDLE_XCCL_BACKEND") << "builds that know NPUs themselves";
  }
  EXPECT_EQ(common(world_of(2, 1)).count("PADDLE_XCCL_BACKEND"), 0U);
}

TEST(CommonEnv, KeepsTheUsersWishForGloo) {
  EXPECT_EQ(common(world_of(1, 0)).at("PADDLE_WITH_GLOO"), "0");
  EXPECT_EQ(common(world_of(1, 0), {{"PADDLE_WITH_GLOO", "1"}}).at("PADDLE_WITH_GLOO"), "1");
}

TEST(CommonEnv, TellsWhichTryThisIs) {
  EXPECT_EQ(common(world_of(1, 0)).at("PADDLE_RESTART_COUNT"), "0");
  EXPECT_EQ(common(world_of(1, 0)).at("PADDLE_LAUNCH_ROUND"), "0");
  PaddleEnvSettings settings = kSettings;
  settings.round = {.number = 5, .restarts = 2, .quick_failures = 1};
  const PaddleEnv env = common_env(world_of(1, 0), settings, {});
  const Variables variables(env.common.begin(), env.common.end());
  EXPECT_EQ(variables.at("PADDLE_RESTART_COUNT"), "2");
  EXPECT_EQ(variables.at("PADDLE_LAUNCH_ROUND"), "5");
}

TEST(CommonEnv, TellsTheNodesOfThisRoundWhereTheyMayChange) {
  const Environment user = {{"PADDLE_TRAINERS", "10.0.0.1,10.0.0.2"},
                            {"DISTRIBUTED_TRAINER_ENDPOINTS", "10.0.0.1:8001,10.0.0.2:8001"}};
  EXPECT_EQ(common(world_of(2, 0), user).count("PADDLE_TRAINERS"), 0U) << "inherited";
  PaddleEnvSettings settings = kSettings;
  settings.elastic = true;
  const PaddleEnv env = common_env(world_of(2, 0, "10.0.0.3"), settings, user);
  const Variables variables(env.common.begin(), env.common.end());
  EXPECT_EQ(variables.at("PADDLE_TRAINERS"), "10.0.0.3");
  EXPECT_EQ(variables.at("DISTRIBUTED_TRAINER_ENDPOINTS"), "10.0.0.3:7000,10.0.0.3:7001");
  for (const EnvVar& variable : common_env(world_of(2, 0), settings, {}).common) {
    EXPECT_NE(variable.first, "PADDLE_TRAINERS") << "nobody asked for it";
  }
}

TEST(TrainerEnv, SeparatesTheCardsOfOneTrainerByCommas) {
  const WorldPlan world = world_of(2, 2);
  EXPECT_EQ(own(world, 1).at("FLAGS_selected_gpus"), "2,3");
  EXPECT_EQ(own(world, 1).at("PADDLE_LOCAL_DEVICE_IDS"), "2,3");
  EXPECT_EQ(common(world).at("PADDLE_WORLD_DEVICE_IDS"), "0:1,2:3");
}

TEST(TrainerEnv, AllMeetAtTheMaster) {
  const WorldPlan world = world_of(2, 1);
  EXPECT_EQ(own(world, 0).at("PADDLE_MASTER"), "127.0.0.1:6000");
  EXPECT_EQ(own(world, 1).at("PADDLE_MASTER"), "127.0.0.1:6000");
}

TEST(TrainerEnv, RankZeroListensBehindTheDoor) {
  WorldPlan world = world_of(2, 1);
  world.store = "127.0.0.1:6001";
  EXPECT_EQ(own(world, 0).at("PADDLE_MASTER"), "127.0.0.1:6001");
  EXPECT_EQ(own(world, 1).at("PADDLE_MASTER"), "127.0.0.1:6000");
}

TEST(TrainerEnv, OnTheCpuNoCardIsSelected) {
  EXPECT_EQ(own(world_of(1, 0), 0).count("FLAGS_selected_gpus"), 0U);
}

TEST(CommonEnv, ListsTooLongForTheKernelGoIntoAFile) {
  const WorldPlan large = world_of(8000, 1, "192.168.100.100");
  const PaddleEnv env = common_env(large, kSettings, {});
  const Variables variables(env.common.begin(), env.common.end());
  EXPECT_EQ(variables.count("PADDLE_TRAINER_ENDPOINTS"), 0U);
  EXPECT_EQ(variables.count("PADDLE_WORLD_DEVICE_IDS"), 0U);
  EXPECT_EQ(variables.at("PADDLE_BACKUP_ENV_PATH"), "/logs/backup_env.0.json");
  EXPECT_EQ(env.backup_path, "/logs/backup_env.0.json");
  ASSERT_EQ(env.backup.size(), 2U);
  EXPECT_GE(env.backup[0].second.size(), kLongestValue);
  for (const EnvVar& variable : env.common) EXPECT_LT(variable.second.size(), kLongestValue);
}

TEST(CommonEnv, OrdinaryListsNeedNoFile) {
  EXPECT_TRUE(common_env(world_of(256, 1), kSettings, {}).backup_path.empty());
  EXPECT_EQ(common(world_of(256, 1)).count("PADDLE_BACKUP_ENV_PATH"), 0U);
}

TEST(InheritedEnv, WhatWeSetIsNotThereTwice) {
  const auto env =
      inherited_env({{"PADDLE_TRAINER_ID", "9"}, {"FLAGS_selected_gpus", "9"}, {"HOME", "/root"}},
                    {}, {{"PADDLE_TRAINER_ID", "0"}});
  EXPECT_EQ(env, (std::vector<EnvVar>{{"HOME", "/root"}}));
}

TEST(InheritedEnv, UnderASchedulerItsVariablesAreLeftOut) {
  const Environment user{{"PMIX_RANK", "3"}, {"HOME", "/root"}, {"SLURM_JOB_ID", "42"}};
  EXPECT_EQ(inherited_env(user, {}, {}).size(), 3U);
  EXPECT_EQ(inherited_env(user, {}, {}, true),
            (std::vector<EnvVar>{{"HOME", "/root"}, {"SLURM_JOB_ID", "42"}}));
}

TEST(CommonEnv, TheLocalSizeIsTheNodesAndNotTheLaunchers) {
  WorldPlan world = world_of(2, 1);
  EXPECT_EQ(common(world).at("PADDLE_LOCAL_SIZE"), "2");
  world.local_size = 8;
  EXPECT_EQ(common(world).at("PADDLE_LOCAL_SIZE"), "8");
}

}  // namespace
}  // namespace paddle_launch
