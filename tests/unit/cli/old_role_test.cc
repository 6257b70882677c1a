// SPDX-License-Identifier: Apache-2.0
// The variables of Paddle's first cluster documents.
#include "launcher/cli/old_role.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

constexpr const char* kHosts = "ps0.paddlepaddle.com,ps1.paddlepaddle.com";

Environment with(Environment env, const Environment& more) {
  for (const auto& [name, value] : more) env[name] = value;
  return env;
}

Environment server(const Environment& more = {}) {
  return with({{"PADDLE_TRAINING_ROLE", "PSERVER"},
               {"PADDLE_CURRENT_IP", "ps1.paddlepaddle.com"},
               {"PADDLE_PSERVER_IPS", kHosts},
               {"PADDLE_TRAINERS", "3"},
               {"PADDLE_PSERVER_PORT", "6175"}},
              more);
}

Environment trainer(const Environment& more = {}) {
  return with({{"PADDLE_TRAINING_ROLE", "TRAINER"},
               {"PADDLE_PSERVER_IPS", kHosts},
               {"PADDLE_TRAINERS", "3"},
               {"PADDLE_TRAINER_ID", "2"}},
              more);
}

void expect_error(const Environment& env, const Words& parts, const Words& options = {}) {
  EXPECT_EQ(missing_part({options, parts}, env), "");
}

TEST(OldRole, IsAServerByItsAddress) {
  const JobSpec job = job_of({"train.py"}, server());
  EXPECT_EQ(job.mode, Mode::ParameterServer);
  const SingleProcess& single = job.servers->single.value();
  EXPECT_EQ(single.mine, (ProcessName{Role::Server, 1}));
  EXPECT_EQ(single.called, "to be server ps1.paddlepaddle.com");
  EXPECT_EQ(single.port_source, "PADDLE_PSERVER_PORT");
  EXPECT_EQ(job.node_rank, 1);
  EXPECT_EQ(job.servers->layout,
            "PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com "
            "PADDLE_PSERVER_PORT=6175 PADDLE_TRAINERS=3");
  EXPECT_TRUE(job.servers->legacy_env);
  EXPECT_EQ(job.servers->servers,
            (Words{"ps0.paddlepaddle.com:6175", "ps1.paddlepaddle.com:6175"}));
  EXPECT_TRUE(job.servers->workers.empty());
  EXPECT_EQ(job.host, "ps1.paddlepaddle.com");
  EXPECT_EQ(job.host_source, "PADDLE_CURRENT_IP");
}

TEST(OldRole, IsATrainerByItsNumber) {
  const JobSpec job = job_of({"train.py"}, trainer({{"POD_IP", "10.0.0.7"}}));
  EXPECT_EQ(job.servers->single->mine, (ProcessName{Role::Trainer, 2}));
  EXPECT_EQ(job.servers->single->called, "PADDLE_TRAINER_ID=2");
  EXPECT_EQ(job.node_rank, 4);
  EXPECT_EQ(job.servers->servers.front(), "ps0.paddlepaddle.com:6174");
  EXPECT_EQ(job.host, "10.0.0.7");
  EXPECT_EQ(job.host_source, "POD_IP");
  EXPECT_EQ(job_of({"train.py"}, trainer()).host, std::nullopt);
}

TEST(OldRole, HasAPodForEachProcess) {
  const JobSpec job = job_of({"train.py"}, trainer());
  EXPECT_EQ(job.nnodes, 5);
  EXPECT_EQ(job.ips, (Words{"ps0.paddlepaddle.com", "ps1.paddlepaddle.com"}));
  EXPECT_TRUE(job.ips_given);
  EXPECT_EQ(job.ips_source, "PADDLE_PSERVER_IPS");
  EXPECT_EQ(job.servers->single->pods,
            (Words{"server ps0.paddlepaddle.com", "server ps1.paddlepaddle.com", "trainer 0",
                   "trainer 1", "trainer 2"}));
  EXPECT_TRUE(job_with({"--check"}, trainer()).check);
}

TEST(OldRole, IsPserverOrTrainer) {
  expect_error(server({{"PADDLE_TRAINING_ROLE", "MASTER"}}),
               {"PADDLE_TRAINING_ROLE=MASTER is refused", "PSERVER or TRAINER"});
}

TEST(OldRole, NeedsEveryVariable) {
  for (const char* const name :
       {"PADDLE_TRAINING_ROLE", "PADDLE_PSERVER_IPS", "PADDLE_TRAINERS", "PADDLE_CURRENT_IP"}) {
    Environment env = server();
    env.erase(name);
    expect_error(env, {std::string(name) + " is not set", "Set it to", "or unset PADDLE_"});
  }
  expect_error(trainer({{"PADDLE_TRAINER_ID", ""}}),
               {"PADDLE_TRAINER_ID is not set", "from 0 to 2",
                "PADDLE_TRAINING_ROLE and PADDLE_PSERVER_IPS"});
}

TEST(OldRole, HasATrainerBelowTheNumberOfTrainers) {
  for (const char* const id : {"3", "-1", "x", "1.5"}) {
    expect_error(
        trainer({{"PADDLE_TRAINER_ID", id}}),
        {std::string("PADDLE_TRAINER_ID=") + id + " is refused", "PADDLE_TRAINERS=3", "0 to 2"});
  }
}

TEST(OldRole, HasAServerAmongTheServers) {
  expect_error(server({{"PADDLE_CURRENT_IP", "ps2"}}),
               {"PADDLE_CURRENT_IP=ps2 is not among PADDLE_PSERVER_IPS=", kHosts});
}

TEST(OldRole, RefusesBadLists) {
  expect_error(trainer({{"PADDLE_PSERVER_IPS", "a,b,a"}}),
               {"PADDLE_PSERVER_IPS=a,b,a", "a is there twice"});
  expect_error(trainer({{"PADDLE_PSERVER_IPS", "a:1"}}),
               {"PADDLE_PSERVER_IPS=a:1", "PADDLE_PSERVER_PORT"});
  expect_error(trainer({{"PADDLE_PSERVER_IPS", "a,"}}),
               {"PADDLE_PSERVER_IPS=a, is refused", "empty"});
  expect_error(trainer({{"PADDLE_PSERVER_IPS", "127.0.0.1,10.0.0.2"}}),
               {"PADDLE_PSERVER_IPS=127.0.0.1,10.0.0.2: 127.0.0.1 names", "PADDLE_CURRENT_IP"});
  expect_error(trainer({{"PADDLE_PSERVER_IPS", "127.0.0.1,localhost"}}),
               {"names each node itself"});
  for (const char* const port : {"0", "65536", "x"}) {
    expect_error(trainer({{"PADDLE_PSERVER_PORT", port}}),
                 {std::string("PADDLE_PSERVER_PORT=") + port + " is refused", "from 1 to 65535"});
  }
}

TEST(OldRole, CanHaveSeveralPodsOnOneMachine) {
  EXPECT_EQ(job_of({"t.py"}, trainer({{"PADDLE_PSERVER_IPS", "127.0.0.1,127.0.0.2"}})).nnodes, 5);
  EXPECT_EQ(job_of({"t.py"}, trainer({{"PADDLE_PSERVER_IPS", "127.0.0.1"}})).nnodes, 4);
}

TEST(OldTrainers, AreANumberOrAList) {
  const auto trainers = [](const Environment& more) {
    return job_of({"train.py"}, trainer(more)).nnodes - 2;
  };
  EXPECT_EQ(trainers({{"PADDLE_TRAINERS", "4"}, {"PADDLE_TRAINERS_NUM", "4"}}), 4);
  EXPECT_EQ(trainers({{"PADDLE_TRAINERS", "10.0.0.1, 10.0.0.2,c"}}), 3);
  EXPECT_EQ(trainers({{"PADDLE_TRAINERS", "a,b,c"}, {"PADDLE_TRAINERS_NUM", "3"}}), 3);
  for (const char* const text : {"0", "-2", "two", "2x", "a,,b", "1.5"}) {
    expect_error(trainer({{"PADDLE_TRAINERS", text}}),
                 {std::string("PADDLE_TRAINERS=") + text + " is refused"});
  }
}

TEST(OldTrainers, AreCountedAlike) {
  expect_error(trainer({{"PADDLE_TRAINERS_NUM", "2"}}),
               {"PADDLE_TRAINERS=3 means 3 trainers", "PADDLE_TRAINERS_NUM=2"});
  expect_error(trainer({{"PADDLE_TRAINERS", "a,b,c"}, {"PADDLE_TRAINERS_NUM", "2"}}),
               {"PADDLE_TRAINERS=a,b,c means 3 trainers", "PADDLE_TRAINERS_NUM=2"});
}

TEST(OldRole, MeetsOverTcpWhoeverStartedTheLaunchers) {
  EXPECT_EQ(job_of({"train.py"}, trainer()).bootstrap, "tcp");
  EXPECT_EQ(job_with({"--bootstrap=pmix"}, trainer()).bootstrap, "tcp");
}

TEST(OldRole, LosesToOptionsWithANotice) {
  for (const char* const option : {"--run_mode=collective", "--nproc_per_node=2", "--nnodes=1"}) {
    const ParsedCommandLine line = parsed({option, "train.py"}, trainer());
    EXPECT_EQ(line.job.servers, std::nullopt);
    EXPECT_EQ(line.notices, Words{std::string("PADDLE_TRAINING_ROLE and PADDLE_PSERVER_IPS are not "
                                              "used: ") +
                                  option + " says what the job is"});
  }
  const JobSpec own = job_with({"--server_num=1", "--worker_num=2"}, server());
  EXPECT_EQ(own.servers->single, std::nullopt);
  EXPECT_EQ(own.servers->worker_num, 2);
  EXPECT_FALSE(own.servers->legacy_env);
}

TEST(OldRole, DropsVariablesThatNameOtherNodes) {
  const ParsedCommandLine line = parsed(
      {"train.py"},
      trainer({{"PADDLE_MASTER", "10.0.0.1:1"}, {"PADDLE_NNODES", "2"}, {"PADDLE_RANK", "1"}}));
  EXPECT_EQ(line.job.nnodes, 5);
  EXPECT_EQ(line.job.master, std::nullopt);
  EXPECT_EQ(line.job.node_rank, 4);
  EXPECT_EQ(line.warnings.size(), 3U);
}

TEST(OldRole, ContradictsTypedPlaces) {
  expect_error(trainer(), {"--rank=1 and PADDLE_TRAINING_ROLE contradict"}, {"--rank=1"});
  expect_error(server(), {"--host=10.0.0.1 and PADDLE_CURRENT_IP=ps1.paddlepaddle.com contradict"},
               {"--host=10.0.0.1"});
  EXPECT_EQ(job_with({"--host=10.0.0.1"}, trainer()).host, "10.0.0.1");
}

TEST(OldRole, IsNotThatOfPaddleCloudsCollectiveJobs) {
  const Environment env = {{"PADDLE_TRAINING_ROLE", "TRAINER"},
                           {"TRAINER_PORTS_NUM", "1"},
                           {"PADDLE_TRAINERS", "10.0.0.1,10.0.0.2"},
                           {"POD_IP", "10.0.0.2"},
                           {"PADDLE_TRAINER_ID", "1"}};
  EXPECT_EQ(job_of({"train.py"}, env).mode, Mode::Collective);
  EXPECT_EQ(job_of({"train.py"}, env).ips.size(), 2U);
  EXPECT_EQ(job_of({"train.py"}, with(env, {{"PADDLE_PSERVER_IPS", "10.0.0.9"}})).mode,
            Mode::ParameterServer);
}

TEST(OldRole, IsForgottenInsideATrainer) {
  EXPECT_EQ(job_of({"train.py"}, trainer({{"PADDLE_LAUNCH_JOB", "x"}})).mode, Mode::Collective);
}

}  // namespace
}  // namespace paddle_launch
