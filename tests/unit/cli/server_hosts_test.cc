// SPDX-License-Identifier: Apache-2.0
// Which nodes a job with parameter servers has.
#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

constexpr const char* kServers = "--servers=10.0.0.2:6170,10.0.0.1:6170";
constexpr const char* kWorkers = "--workers=10.0.0.1:6171,10.0.0.3:6171";

TEST(ServerHosts, AreInTheOrderOfTheLists) {
  const JobSpec job = job_with({kServers, kWorkers});
  EXPECT_EQ(job.ips, (Words{"10.0.0.2", "10.0.0.1", "10.0.0.3"}));
  EXPECT_TRUE(job.ips_given);
  EXPECT_EQ(job.ips_source, "--servers and --workers");
  EXPECT_EQ(job.nnodes, 3);
  EXPECT_EQ(job.master, std::nullopt);
  const JobSpec heter = job_with({kServers, kWorkers, "--heter_workers=10.0.0.4:1;10.0.0.1:1"});
  EXPECT_EQ(heter.ips, (Words{"10.0.0.2", "10.0.0.1", "10.0.0.3", "10.0.0.4"}));
  EXPECT_EQ(heter.ips_source, "--servers, --workers and --heter_workers");
}

TEST(ServerHosts, AreNamedByWhatWasGiven) {
  const Environment env = {{"PADDLE_TRAINERS_ENDPOINTS", "10.0.0.1:7"}};
  EXPECT_EQ(job_with({kServers}, env).ips_source, "--servers and PADDLE_TRAINERS_ENDPOINTS");
}

TEST(ServerHosts, KnowTheirOwnAddressAsWithIps) {
  const JobSpec job = job_with({kServers, kWorkers}, {{"POD_IP", "10.0.0.1"}});
  EXPECT_EQ(job.host, "10.0.0.1");
  EXPECT_EQ(job.host_source, "POD_IP");
  EXPECT_EQ(job_with({kServers, kWorkers, "--rank=2"}).node_rank, 2);
  expect_errors({{{kServers, kWorkers, "--rank=3"}, {"--rank=3", "3 nodes"}}});
}

TEST(ServerHosts, AreCountedByNnodesAlike) {
  EXPECT_EQ(job_with({kServers, kWorkers, "--nnodes=3"}).nnodes, 3);
  expect_errors({{{kServers, kWorkers, "--nnodes=2"},
                  {"--nnodes=2 and --servers=10.0.0.2", "the endpoints are on 3 nodes"}}});
}

TEST(ServerHosts, NeedNoMaster) {
  expect_errors({{{kServers, kWorkers, "--master=10.0.0.1:6768", "--nnodes=3"},
                  {"--master=10.0.0.1:6768 and --servers=", "each is a way"}}});
  const ParsedCommandLine line =
      parsed({kServers, kWorkers, "train.py"}, {{"PADDLE_MASTER", "10.0.0.9:6768"}});
  EXPECT_EQ(line.job.master, std::nullopt);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_MASTER=10.0.0.9:6768 is not used: --servers="), 0U);
}

TEST(ServerHosts, AreThisOneForNumbers) {
  const JobSpec job = job_with({"--server_num=1", "--worker_num=4"});
  EXPECT_EQ(job.ips, Words{"127.0.0.1"});
  EXPECT_FALSE(job.ips_given);
  EXPECT_EQ(job.nnodes, 1);
}

TEST(ServerHosts, MeetAtTheMasterForNumbersOfEachNode) {
  const JobSpec job =
      job_with({"--server_num=1", "--worker_num=4", "--master=10.0.0.1:6768", "--nnodes=2"});
  EXPECT_EQ(job.master, (MeetingPoint{"10.0.0.1", 6768}));
  EXPECT_EQ(job.nnodes, 2);
  EXPECT_EQ(job.servers->worker_num, 4);
  expect_errors({{{"--server_num=1", "--worker_num=4", "--nnodes=2"},
                  {"--nnodes=2: the 2 nodes", "--servers=HOST:PORT", "--master="}},
                 {{"--server_num=1", "--worker_num=4", "--check"},
                  {"--check: there is one node", "--servers=HOST:PORT"}}});
}

TEST(ServerHosts, AreReachableByTheOthers) {
  expect_errors(
      {{{"--servers=127.0.0.1:1,10.0.0.2:1", "--workers=10.0.0.2:2"},
        {"--servers=127.0.0.1:1,10.0.0.2:1 and --workers=10.0.0.2:2: 127.0.0.1 names", "--host"}},
       {{"--servers=127.0.0.1:1", "--workers=127.0.0.2:1"}, {"127.0.0.1 names each"}},
       {{"--servers=localhost:1", "--workers=10.0.0.1:1"}, {"localhost names each"}}});
  EXPECT_EQ(job_with({"--servers=127.0.0.1:1", "--workers=127.0.0.1:2"}).ips, Words{"127.0.0.1"});
  EXPECT_EQ(job_with({"--servers=127.0.0.1:1", "--workers=127.0.0.2:1", "--host=127.0.0.2"}).nnodes,
            2);
}

TEST(PortsOfLists, LeaveNothingToChoose) {
  expect_errors({{{kServers, kWorkers, "--start_port=7000"},
                  {"--start_port=7000 and --servers=", "the lists name the ports"}},
                 {{kServers, kWorkers, "--port_range=7000:8000"},
                  {"--port_range=7000:8000 and --servers=", "the lists name the ports"}}});
  const ParsedCommandLine line =
      parsed({kServers, kWorkers, "train.py"}, {{"FLAGS_START_PORT", "7000"}});
  EXPECT_EQ(line.job.start_port, std::nullopt);
  EXPECT_EQ(line.warnings, Words{"FLAGS_START_PORT=7000 is not used: --servers names the ports"});
}

TEST(PortsOfNumbers, BeginAtTheStartPort) {
  EXPECT_EQ(job_with({"--server_num=1", "--worker_num=2", "--start_port=7000"}).start_port, 7000);
  EXPECT_EQ(
      job_with({"--servers=a:1", "--worker_num=2"}, {{"FLAGS_START_PORT", "7000"}}).start_port,
      7000);
}

TEST(CardsOfWorkers, CanBeChosen) {
  EXPECT_EQ(job_with({"--server_num=1", "--worker_num=2", "--gpus=0,1"}).cards->list, "0,1");
}

TEST(SortIp, HasNoEffectWithEndpoints) {
  EXPECT_EQ(parsed({kServers, kWorkers, "--sort_ip=true", "train.py"}).notices,
            Words{"--sort_ip=True has no effect: --servers and --workers have the nodes in their "
                  "order"});
}

}  // namespace
}  // namespace paddle_launch
