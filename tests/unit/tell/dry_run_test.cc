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

TEST(DryRun, SaysNothingOfRolesInACollectiveJob) {
  EXPECT_EQ(dry_run_text(one_process())
                .rfind("1 of 1 processes on 127.0.0.1:\n\nrank 0\n  local rank  0\n  host ", 0),
            0U);
  const auto json = nlohmann::json::parse(dry_run_json(one_process()));
  EXPECT_FALSE(json.contains("servers") || json.contains("heter_workers"));
  EXPECT_FALSE(json["processes"][0].contains("role"));
}

TEST(DryRun, NamesServersAndHeterWorkers) {
  ProcessPlan plan = one_process();
  plan.servers = 2;
  plan.heter_workers = 1;
  plan.processes.push_back({.role = Role::Server, .rank = 1});
  plan.processes.push_back({.role = Role::HeterWorker, .rank = 0});
  const std::string text = dry_run_text(plan);
  EXPECT_EQ(text.rfind("3 of 4 processes on 127.0.0.1:\n", 0), 0U) << text;
  EXPECT_NE(text.find("\nserver 1\n  host "), std::string::npos) << text;
  EXPECT_NE(text.find("\nheter worker 0\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(dry_run_json(plan));
  EXPECT_EQ(json["servers"], 2);
  EXPECT_EQ(json["heter_workers"], 1);
  EXPECT_EQ(json["processes"][0]["role"], "trainer");
  EXPECT_EQ(json["processes"][1]["role"], "server");
  EXPECT_EQ(json["processes"][1]["rank"], 1);
  EXPECT_EQ(json["processes"][2]["role"], "heter_worker");
}

TEST(DryRun, ShowsNothingOfTheUsersOwnEnvironment) {
  EXPECT_EQ(dry_run_text(one_process()).find("hush"), std::string::npos);
  EXPECT_EQ(dry_run_json(one_process()).find("hush"), std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
