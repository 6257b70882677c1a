// SPDX-License-Identifier: Apache-2.0
// Servers, workers and heterogeneous workers: by lists, by numbers, and what cannot be.
#include "launcher/cli/servers_of_job.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

ServerSpec servers_with(const Words& options, const Environment& env = {}) {
  return job_with(options, env).servers.value();
}

TEST(ServersOfJob, AreNumbersForEachNode) {
  const JobSpec job = job_with({"--server_num=1", "--worker_num=4"});
  EXPECT_EQ(job.mode, Mode::ParameterServer);
  EXPECT_EQ(job.servers->server_num, 1);
  EXPECT_EQ(job.servers->worker_num, 4);
  EXPECT_TRUE(job.servers->servers.empty());
  EXPECT_TRUE(job.servers->workers.empty());
  EXPECT_EQ(job.servers->as_it_is, std::nullopt);
  EXPECT_EQ(job.servers->single, std::nullopt);
}

TEST(ServersOfJob, AreListsOfTheWholeJob) {
  const ServerSpec spec =
      servers_with({"--servers=10.0.0.1:6170, 10.0.0.2:6170", "--workers=10.0.0.2:6171"});
  EXPECT_EQ(spec.servers, (Words{"10.0.0.1:6170", "10.0.0.2:6170"}));
  EXPECT_EQ(spec.workers, Words{"10.0.0.2:6171"});
  EXPECT_EQ(spec.server_num, 0);
  EXPECT_EQ(spec.worker_num, 0);
}

TEST(ServersOfJob, AreTheSameInBothWaysToNameTheMode) {
  EXPECT_EQ(servers_with({"--run_mode=ps", "--server_num=1", "--worker_num=2"}),
            servers_with({"--server_num=1", "--worker_num=2"}));
}

TEST(ServersOfJob, ComeFromVariablesToo) {
  const ServerSpec lists = servers_with({}, {{"PADDLE_SERVERS_ENDPOINTS", "10.0.0.1:1"},
                                             {"PADDLE_TRAINERS_ENDPOINTS", "10.0.0.1:2"}});
  EXPECT_EQ(lists.servers, Words{"10.0.0.1:1"});
  EXPECT_EQ(lists.workers, Words{"10.0.0.1:2"});
  const ServerSpec numbers =
      servers_with({}, {{"PADDLE_SERVER_NUM", "2"}, {"PADDLE_TRAINER_NUM", "3"}});
  EXPECT_EQ(numbers.server_num, 2);
  EXPECT_EQ(numbers.worker_num, 3);
}

TEST(ServersOfJob, AreThereAlongWithAllOtherRoles) {
  expect_errors(
      {{{"--servers=a:1"}, {"--servers=a:1 asks", "no workers.", "--worker_num=N"}},
       {{"--workers=a:1"}, {"--workers=a:1 asks", "no servers.", "--servers=HOST:PORT"}},
       {{"--worker_num=0"}, {"no workers (--worker_num=0)"}},
       {{"--server_num=1", "--worker_num=0"}, {"no workers (--worker_num=0)"}},
       {{"--server_num=0", "--worker_num=2"}, {"no servers (--server_num=0)"}},
       {{"--server_num=0", "--workers=a:1"}, {"no servers (--server_num=0)"}},
       {{"--server_num=0", "--worker_num=1", "--heter_worker_num=1"}, {"no servers (--server_num"}},
       {{"--run_mode=ps-heter", "--server_num=1", "--worker_num=1"},
        {"--run_mode=ps-heter", "no heterogeneous workers", "--heter_worker_num=N"}},
       {{"--heter_devices=gpu", "--server_num=1", "--worker_num=1"},
        {"--heter_devices=gpu asks", "no heterogeneous workers"}}});
}

TEST(ServersOfJob, AreOneWhereTheirNumberIsMissing) {
  struct Row {
    Words options;
    Environment env;
    int servers;
    int workers;
    std::size_t notices;
  };
  for (const Row& row :
       {Row{{"--run_mode=ps"}, {}, 1, 1, 2},
        {{"--http_port=8900"}, {}, 1, 1, 2},
        {{"--server_num=2"}, {}, 2, 1, 1},
        {{"--worker_num=4"}, {}, 1, 4, 1},
        {{"--trainer_num=4"}, {}, 1, 4, 1},
        {{}, {{"PADDLE_SERVER_NUM", "3"}}, 3, 1, 1},
        {{"--master=10.0.0.1:7000", "--nnodes=2"}, {{"PADDLE_TRAINER_NUM", "3"}}, 1, 3, 1}}) {
    Words words = row.options;
    words.emplace_back("train.py");
    const ParsedCommandLine line = parsed(words, row.env);
    EXPECT_EQ(line.job.servers->server_num, row.servers) << testing::PrintToString(words);
    EXPECT_EQ(line.job.servers->worker_num, row.workers) << testing::PrintToString(words);
    EXPECT_EQ(line.notices.size(), row.notices) << testing::PrintToString(line.notices);
  }
  EXPECT_EQ(parsed({"--server_num=2", "train.py"}).notices,
            Words{"--trainer_num is not given: each node has one worker"});
}

TEST(ServersOfJob, AgreeAmongNodesThatNameOneNumberEach) {
  const Words with_master = {"--master=10.0.0.1:7000", "--nnodes=2"};
  const std::string layout = servers_with(with_master, {{"PADDLE_SERVER_NUM", "1"}}).layout;
  EXPECT_EQ(layout, "--server_num=1 --worker_num=1 --with_gloo=1") << "as in Paddle from 2.3 on";
  EXPECT_EQ(layout, servers_with(with_master, {{"PADDLE_TRAINER_NUM", "1"}}).layout);
  EXPECT_EQ(layout, servers_with({"--run_mode=ps"}).layout);
}

TEST(ServersOfJob, AgreeWithTheirNumber) {
  const ServerSpec spec =
      servers_with({"--servers=a:1,a:2", "--server_num=2", "--workers=a:3", "--worker_num=1"});
  EXPECT_EQ(spec.servers.size(), 2U);
  EXPECT_EQ(spec.server_num, 0);
  EXPECT_EQ(spec.worker_num, 0);
  expect_errors({{{"--servers=a:1,a:2,a:3", "--server_num=2", "--worker_num=1"},
                  {"--server_num=2 and --servers=a:1,a:2,a:3", "the list has 3 servers"}},
                 {{"--servers=a:1", "--workers=a:2", "--worker_num=2"},
                  {"--worker_num=2 and --workers=a:2", "the list has 1 worker;"}},
                 {{"--servers=a:1", "--trainers=a:2", "--trainer_num=2"},
                  {"--trainer_num=2 and --trainers=a:2"}}});
}

TEST(ServersOfJob, BeatAVariableThatCountsThemDifferently) {
  const ParsedCommandLine line =
      parsed({"--servers=a:1,a:2", "--workers=a:3", "train.py"}, {{"PADDLE_SERVER_NUM", "1"}});
  EXPECT_EQ(line.job.servers->servers.size(), 2U);
  EXPECT_EQ(line.warnings,
            Words{"PADDLE_SERVER_NUM=1 is not used: --servers=a:1,a:2 names the servers"});
}

TEST(ServersOfJob, AreAtMost4096OfARoleOnANode) {
  EXPECT_EQ(servers_with({"--server_num=4096", "--worker_num=4096"}).worker_num, 4096);
  std::string many = "a:1";
  for (int port = 2; port <= 4097; ++port) many += ",a:" + std::to_string(port);
  expect_errors(
      {{{"--server_num=4097", "--worker_num=1"}, {"--server_num=4097 is refused"}},
       {{"--server_num=1", "--trainer_num=4097"}, {"--trainer_num=4097 is refused"}},
       {{"--servers=" + many, "--worker_num=1"}, {"--servers has more than 4096 servers on a"}}});
}

TEST(TwoNames, OfOneOptionMeanTheSame) {
  EXPECT_EQ(servers_with({"--servers=a:1", "--trainers=a:2"}).workers, Words{"a:2"});
  EXPECT_EQ(servers_with({"--server_num=1", "--trainer_num=2"}).worker_num, 2);
  EXPECT_EQ(servers_with({"--server_num=1", "--worker_num=2", "--trainer_num=2"}).worker_num, 2);
  expect_errors({{{"--servers=a:1", "--workers=a:2", "--trainers=a:3"},
                  {"--workers=a:2 and --trainers=a:3 contradict each other", "two names"}},
                 {{"--server_num=1", "--worker_num=2", "--trainer_num=3"},
                  {"--worker_num=2 and --trainer_num=3 contradict each other"}},
                 {{"--server_num=1", "--worker_num=2", "--http_port=1", "--gloo_port=2"},
                  {"--http_port=1 and --gloo_port=2 contradict each other"}}});
}

TEST(TwoNames, LetTheTypedOneBeatTheVariableOfTheOther) {
  const ParsedCommandLine line =
      parsed({"--server_num=1", "--worker_num=2", "train.py"}, {{"PADDLE_TRAINER_NUM", "3"}});
  EXPECT_EQ(line.job.servers->worker_num, 2);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_TRAINER_NUM=3 is not used"), 0U);
}

TEST(Workers, WithoutPortsGetThoseAfterTheServers) {
  EXPECT_EQ(servers_with({"--servers=a:1,b:1", "--workers=a,b,a,b"}).workers,
            (Words{"a:6172", "b:6173", "a:6174", "b:6175"}));
  EXPECT_EQ(servers_with({"--server_num=3", "--workers=a,a"}).workers, (Words{"a:6173", "a:6174"}));
  expect_errors(
      {{{"--servers=a:1", "--workers=a,b:7"}, {"--workers=a,b:7", "b:7 has a port and a"}}});
}

TEST(Endpoints, BelongToOneProcess) {
  expect_errors(
      {{{"--servers=a:1,a:1", "--workers=a:2"}, {"--servers=a:1,a:1 is refused", "a:1 is there"}},
       {{"--servers=a:1", "--workers=a:1"}, {"--servers=a:1 and --workers=a:1", "a:1 is an end"}},
       {{"--servers=a:6172,a:2", "--workers=a"},
        {"--servers=a:6172,a:2 and --workers=a: a:6172", "a:6172 is an endpoint of both"}},
       {{"--servers=a:1", "--workers=a:2,a:3", "--heter_workers=a:4;a:3"},
        {"--workers=a:2,a:3 and --heter_workers=a:4;a:3", "a:3 is an endpoint of both"}},
       {{"--servers=a:1", "--workers=a:2", "--heter_workers=a:1"},
        {"--servers=a:1 and --heter_workers=a:1", "a:1 is an endpoint of both"}}});
}

TEST(NumbersAndLists, GoTogetherOnOneHost) {
  const JobSpec job = job_with({"--servers=10.0.0.1:6170", "--worker_num=2"});
  EXPECT_EQ(job.ips, Words{"10.0.0.1"});
  EXPECT_EQ(job.ips_source, "--servers");
  EXPECT_EQ(job.servers->worker_num, 2);
  EXPECT_EQ(job.servers->server_num, 0);
  expect_errors({{{"--servers=10.0.0.1:1,10.0.0.2:1", "--worker_num=2"},
                  {"--worker_num=2:", "10.0.0.1, 10.0.0.2", "--workers=HOST:PORT"}},
                 {{"--server_num=1", "--workers=a:1,b:1"},
                  {"--server_num=1:", "several hosts (a, b)", "--servers=HOST:PORT"}},
                 {{"--servers=a:1", "--workers=b:1", "--heter_worker_num=1;2"},
                  {"--heter_worker_num=1;2:", "--heter_workers=HOST:PORT"}}});
}

TEST(NoServers, AndOneWorkerIsTheScriptAlone) {
  for (const char* const worker : {"--worker_num=1", "--trainer_num=1"}) {
    const ParsedCommandLine line =
        parsed({"--server_num=0", worker, "--host=10.0.0.9", "train.py"});
    EXPECT_EQ(line.job.servers->as_it_is, (ProcessName{Role::Trainer, 0}));
    EXPECT_EQ(line.job.host, std::nullopt);
    ASSERT_EQ(line.notices.size(), 2U);
    EXPECT_NE(line.notices[0].find("there are no servers and one worker: the script runs alone, as "
                                   "python train.py would"),
              std::string::npos);
    EXPECT_EQ(line.notices[1].find("--host=10.0.0.9 has no effect"), 0U);
  }
  expect_errors({{{"--server_num=0", "--worker_num=1", "--master=a:1", "--nnodes=2"},
                  {"--nnodes=2 and --server_num=0", "runs alone"}}});
}

}  // namespace
}  // namespace paddle_launch
