// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/plan/server_env.h"
#include "tests/unit/plan/server_job.h"

namespace paddle_launch {
namespace {

TEST(OldVariables, ComeOnRequest) {
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

}  // namespace
}  // namespace paddle_launch
