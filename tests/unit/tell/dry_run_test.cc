// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/dry_run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle_launch {
namespace {

ProcessPlan one_process() {
  ProcessPlan plan;
  plan.program = "/usr/bin/python3";
  plan.argv = {"/usr/bin/python3", "-u", "train.py"};
  plan.common_env = {{"PADDLE_TRAINERS_NUM", "1"}};
  plan.inherited = {{"AWS_SECRET_ACCESS_KEY", "hush"}};
  plan.world_size = 1;
  plan.host = "127.0.0.1";
  plan.processes = {{.rank = 0,
                     .endpoint = "127.0.0.1:7000",
                     .cards = {{"5", "1", {}}},
                     .env = {{"PADDLE_TRAINER_ID", "0"}},
                     .cpus = {0, 1, 2, 3, 8},
                     .log_path = "log/workerlog.0"}};
  return plan;
}

TEST(DryRunText, TellsRankHostCardsBindingCommandAndEnvironment) {
  const std::string text = dry_run_text(one_process());
  for (const char* part : {"rank 0", "127.0.0.1:7000", "cards       5", "CPUs 0-3,8", "-u train.py",
                           "PADDLE_TRAINERS_NUM=1", "PADDLE_TRAINER_ID=0"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(DryRunJson, CanBeReadByPrograms) {
  const auto json = nlohmann::json::parse(dry_run_json(one_process()));
  EXPECT_EQ(json["world_size"], 1);
  EXPECT_EQ(json["processes"][0]["environment"]["PADDLE_TRAINER_ID"], "0");
  EXPECT_EQ(json["processes"][0]["cards"], nlohmann::json({"5"}));
  EXPECT_EQ(json["processes"][0]["cpus"].size(), 5U);
}

TEST(DryRun, ShowsNothingOfTheUsersOwnEnvironment) {
  EXPECT_EQ(dry_run_text(one_process()).find("hush"), std::string::npos);
  EXPECT_EQ(dry_run_json(one_process()).find("hush"), std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
