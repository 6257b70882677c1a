// SPDX-License-Identifier: Apache-2.0
// PaddleCloud's parameter-server variables: the script runs once, as what they say.
#include "launcher/cli/role_variables.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

Environment cloud(const std::string& role, const Environment& more = {}) {
  Environment env = {{"TRAINING_ROLE", role},
                     {"PADDLE_TRAINING_ROLE", role},
                     {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:6170, 10.0.0.2:6170"},
                     {"PADDLE_TRAINER_ENDPOINTS", "10.0.0.3:6170,10.0.0.4:6170"},
                     {"PADDLE_TRAINERS", "10.0.0.3,10.0.0.4"},
                     {"PADDLE_TRAINERS_NUM", "2"},
                     {"TRAINER_PORTS_NUM", "1"},
                     {"PADDLE_TRAINER_ID", "1"},
                     {"POD_IP", "10.0.0.2"},
                     {"PADDLE_PORT", "6170"}};
  for (const auto& [name, value] : more) env[name] = value;
  return env;
}

void expect_error(const Environment& env, const Words& parts) {
  EXPECT_EQ(missing_part({{}, parts}, env), "");
}

TEST(CloudRole, IsATrainerByItsNumber) {
  const ParsedCommandLine line = parsed({"train.py"}, cloud("TRAINER"));
  EXPECT_EQ(line.job.mode, Mode::ParameterServer);
  EXPECT_EQ(line.job.servers->as_it_is, (ProcessName{Role::Trainer, 1}));
  EXPECT_EQ(line.job.servers->servers, (Words{"10.0.0.1:6170", "10.0.0.2:6170"}));
  EXPECT_EQ(line.job.servers->workers, (Words{"10.0.0.3:6170", "10.0.0.4:6170"}));
  EXPECT_EQ(line.job.servers->single, std::nullopt);
  ASSERT_EQ(line.notices.size(), 1U);
  EXPECT_EQ(missing_part(line.notices[0], {"TRAINING_ROLE=TRAINER", "once", "worker 1"}), "");
  EXPECT_TRUE(line.warnings.empty());
}

TEST(CloudRole, IsOneNodeWhoseAddressNobodyChecks) {
  const JobSpec job = job_of({"train.py"}, cloud("TRAINER"));
  EXPECT_EQ(job.ips, Words{"127.0.0.1"});
  EXPECT_FALSE(job.ips_given);
  EXPECT_EQ(job.nnodes, 1);
  EXPECT_EQ(job.host, std::nullopt);
  EXPECT_FALSE(job.has_several_nodes());
}

TEST(CloudRole, IsAServerByItsEndpoint) {
  EXPECT_EQ(job_of({"train.py"}, cloud("PSERVER")).servers->as_it_is,
            (ProcessName{Role::Server, 1}));
  expect_error(cloud("PSERVER", {{"PADDLE_PORT", "6171"}}),
               {"TRAINING_ROLE=PSERVER", "POD_IP=10.0.0.2", "PADDLE_PORT=6171",
                "PADDLE_PSERVERS_IP_PORT_LIST=10.0.0.1:6170,10.0.0.2:6170"});
}

TEST(CloudRole, IsAHeterWorkerByItsEndpoint) {
  const Environment list = {{"PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", "10.0.0.9:1,10.0.0.2:6170"}};
  EXPECT_EQ(job_of({"train.py"}, cloud("HETER_TRAINER", list)).servers->as_it_is,
            (ProcessName{Role::HeterWorker, 1}));
  EXPECT_EQ(job_of({"train.py"}, cloud("HETER_TRAINER")).servers->as_it_is,
            (ProcessName{Role::HeterWorker, 0}));
}

TEST(CloudRole, IsOneOfThree) {
  expect_error(cloud("COORDINATOR"), {"TRAINING_ROLE=COORDINATOR is refused", "PSERVER"});
  expect_error(cloud("TRAINER", {{"PADDLE_TRAINER_ID", ""}}),
               {"TRAINING_ROLE=TRAINER needs PADDLE_TRAINER_ID", "not set"});
  expect_error(cloud("TRAINER", {{"PADDLE_TRAINER_ID", "x"}}), {"PADDLE_TRAINER_ID=x is no such"});
}

TEST(CloudRole, DropsVariablesThatNameNodes) {
  const ParsedCommandLine line = parsed(
      {"train.py"}, cloud("TRAINER", {{"PADDLE_MASTER", "10.0.0.1:1"}, {"PADDLE_NNODES", "2"}}));
  EXPECT_EQ(line.job.nnodes, 1);
  EXPECT_EQ(line.warnings,
            (Words{"PADDLE_MASTER=10.0.0.1:1 is not used: TRAINING_ROLE=TRAINER says what this "
                   "launcher starts",
                   "PADDLE_NNODES=2 is not used: TRAINING_ROLE=TRAINER says what this launcher "
                   "starts"}));
}

TEST(CloudRole, LosesToOptionsWithANotice) {
  for (const Words& options :
       {Words{"--run_mode=collective", "--rank=1"}, Words{"--nproc_per_node=1", "--rank=1"}}) {
    Environment env = cloud("TRAINER");
    env["POD_IP"] = "10.0.0.4";
    Words words = options;
    words.emplace_back("train.py");
    const ParsedCommandLine line = parsed(words, env);
    EXPECT_EQ(line.job.mode, Mode::Collective);
    EXPECT_EQ(line.job.servers, std::nullopt);
    EXPECT_EQ(line.notices, Words{"TRAINING_ROLE and PADDLE_PSERVERS_IP_PORT_LIST are not used: " +
                                  options[0] + " says what the job is"});
  }
  const JobSpec own = job_with({"--server_num=1", "--worker_num=2"}, cloud("TRAINER"));
  EXPECT_EQ(own.servers->as_it_is, std::nullopt);
  EXPECT_EQ(own.servers->worker_num, 2);
}

TEST(CloudRole, IsMeantByTheModeAlone) {
  EXPECT_EQ(job_with({"--run_mode=ps"}, cloud("TRAINER")).servers->as_it_is,
            (ProcessName{Role::Trainer, 1}));
}

TEST(CloudRole, NeedsBothVariables) {
  Environment env = cloud("TRAINER");
  env["POD_IP"] = "10.0.0.4";
  env["PADDLE_PSERVERS_IP_PORT_LIST"] = "";
  EXPECT_EQ(job_of({"train.py"}, env).mode, Mode::Collective);
}

TEST(CloudRole, IsForgottenInsideATrainer) {
  EXPECT_EQ(job_of({"train.py"}, cloud("TRAINER", {{"PADDLE_LAUNCH_JOB", "x"}})).mode,
            Mode::Collective);
}

TEST(CloudRole, HasNoUseForSettingsOfStartedRoles) {
  const ParsedCommandLine line = parsed({"--legacy_env", "train.py"}, cloud("TRAINER"));
  ASSERT_EQ(line.notices.size(), 2U);
  EXPECT_TRUE(line.notices[1].starts_with("--legacy_env has no effect: ")) << line.notices[1];
}

}  // namespace
}  // namespace paddle_launch
