// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/plan/pod_plan.h"

namespace paddle_launch {
namespace {

TEST(LogPath, SaysTheRoleAndTheRank) {
  EXPECT_EQ(log_path("/logs", {Role::Trainer, 3}), "/logs/workerlog.3");
  EXPECT_EQ(log_path("/logs", {Role::Server, 0}), "/logs/serverlog.0");
  EXPECT_EQ(log_path("/logs", {Role::HeterWorker, 1}), "/logs/heterlog.1");
}

TEST(LogPath, WithoutADirectoryThereIsNone) { EXPECT_EQ(log_path("", {Role::Trainer, 3}), ""); }

}  // namespace
}  // namespace paddle_launch
