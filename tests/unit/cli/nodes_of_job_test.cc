// SPDX-License-Identifier: Apache-2.0
// Which nodes a command line means.
#include "launcher/cli/nodes_of_job.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

constexpr const char* kList = "10.0.0.1,10.0.0.2";
constexpr const char* kTwoNodes = "--ips=10.0.0.1,10.0.0.2";
constexpr const char* kMaster = "--master=10.0.0.1:6768";

TEST(NodesOfJob, AreOneByDefault) {
  const JobSpec job = job_of({"train.py"});
  EXPECT_FALSE(job.has_several_nodes());
  EXPECT_EQ(job.nnodes, 1);
  EXPECT_EQ(job.ips_source, "--ips");
  EXPECT_EQ(job.node_rank, std::nullopt);
}

TEST(NodesOfJob, AreTheEntriesOfTheList) {
  const JobSpec job = job_with({"--ips", " 10.0.0.1, host-2 ,10.0.0.3", "--nnodes=3", "--rank=2"});
  EXPECT_EQ(job.ips, (Words{"10.0.0.1", "host-2", "10.0.0.3"}));
  EXPECT_TRUE(job.ips_given);
  EXPECT_EQ(job.nnodes, 3);
  EXPECT_EQ(job.node_rank, 2);
  EXPECT_EQ(job.ips_source, "--ips");
  EXPECT_EQ(job.master, std::nullopt);
  EXPECT_EQ(job_of({"train.py"}, {{"PADDLE_IPS", kList}}).ips_source, "PADDLE_IPS");
}

TEST(NodesOfJob, MeetAtTheMaster) {
  const JobSpec job = job_with({"--master=node-1:06768", "--nnodes=4", "--rank=3", "--sort_ip=1"});
  EXPECT_EQ(job.master, (MeetingPoint{"node-1", 6768}));
  EXPECT_EQ(job.nnodes, 4);
  EXPECT_EQ(job.node_rank, 3);
  EXPECT_TRUE(job.sort_ip);
  EXPECT_FALSE(job.ips_given);
  EXPECT_TRUE(job.has_several_nodes());
  const Environment kubeflow = {{"PADDLE_MASTER", "10.0.0.1:6768"}, {"PADDLE_NNODES", "2"}};
  EXPECT_EQ(job_of({"train.py"}, kubeflow).nnodes, 2);
  EXPECT_EQ(job_of({"train.py"}, kubeflow).master, (MeetingPoint{"10.0.0.1", 6768}));
}

TEST(NodesOfJob, AreTwoForARangeFromTwoToTwo) {
  EXPECT_EQ(job_with({kMaster, "--nnodes=2:2"}).nnodes, 2);
  EXPECT_EQ(job_with({kTwoNodes, "--nnodes=2:2"}).nnodes, 2);
}

TEST(NodesOfJob, NeedNoMasterWhenThereIsOne) {
  for (const Words& options : {Words{kMaster}, Words{kMaster, "--nnodes=1"}}) {
    EXPECT_EQ(job_with(options).master, std::nullopt);
    EXPECT_EQ(job_with(options).nnodes, 1);
  }
}

TEST(NodesOfJob, NeedAWayToFindEachOther) {
  expect_errors({{{"--nnodes=2"}, {"--nnodes=2: the 2 nodes", "--ips=", "--master="}},
                 {{"--nnodes=3", "--host=10.0.0.1"}, {"--nnodes=3", "leave out --nnodes"}}});
  EXPECT_NE(usage_error_of({"train.py"}, {{"PADDLE_NNODES", "2"}}).find("unset PADDLE_NNODES"),
            std::string::npos);
}

TEST(NodesOfJob, AreCountedInTheListAndInNnodesAlike) {
  expect_errors(
      {{{kTwoNodes, "--nnodes=3"}, {"--nnodes=3 and --ips=10.0.0.1,10.0.0.2", "has 2 nodes"}},
       {{kTwoNodes, "--nnodes=1"}, {"--nnodes=1 and --ips=10.0.0.1,10.0.0.2", "has 2 nodes"}},
       {{"--ips=10.0.0.1", "--nnodes=2", kMaster}, {"--nnodes=2 and --ips=10.0.0.1", "1 node;"}}});
}

TEST(NodesOfJob, HaveRanksBelowTheirNumber) {
  expect_errors({{{kTwoNodes, "--rank=2"}, {"--rank=2", "no node 2", "2 nodes", "0 to 1"}},
                 {{kMaster, "--nnodes=3", "--rank=7"}, {"--rank=7", "3 nodes", "0 to 2"}}});
  EXPECT_EQ(job_with({kMaster, "--nnodes=2", "--rank", "-1"}).node_rank, std::nullopt);
  EXPECT_EQ(job_with({kMaster, "--nnodes=2", "--rank=0"}).node_rank, 0);
}

TEST(MasterOption, TakesHostAndPortAlone) {
  expect_errors({{{"--nnodes=2", "--master=http://10.0.0.1:6768"},
                  {"--master=http://10.0.0.1:6768 is refused", "without http://"}},
                 {{"--nnodes=2", "--master=10.0.0.1"}, {"--master=10.0.0.1", "HOST:PORT"}},
                 {{"--nnodes=2", "--master=10.0.0.1:70000"}, {"10.0.0.1:70000", "from 1 to 65535"}},
                 {{"--nnodes=2", "--master=[::1]:6768"}, {"--master=[::1]:6768", "IPv6"}}});
}

TEST(Loopback, IsNoneOfSeveralNodes) {
  expect_errors({{{"--ips=127.0.0.1,10.0.0.2"}, {"--ips=127.0.0.1,10.0.0.2", "itself", "--host"}},
                 {{"--ips=10.0.0.1,localhost"}, {"localhost names each node itself"}},
                 {{"--ips=10.0.0.1,127.0.0.2", "--host=10.0.0.1"}, {"127.0.0.2 names"}},
                 {{"--ips=127.0.0.1,127.0.0.2"}, {"127.0.0.1 names each node itself"}},
                 {{"--ips=127.0.0.1,localhost", "--host=127.0.0.1"}, {"names each node itself"}}});
}

TEST(Loopback, CanBeSeveralPodsOfOneMachineThatKnowTheirOwnAddress) {
  const Words pods = {"127.0.0.1", "127.0.0.2"};
  EXPECT_EQ(job_with({"--ips=127.0.0.1,127.0.0.2", "--host=127.0.0.2"}).ips, pods);
  EXPECT_EQ(job_with({"--ips=127.0.0.1,127.0.0.2"}, {{"POD_IP", "127.0.0.2"}}).ips, pods);
  EXPECT_EQ(job_with({"--ips=127.0.0.3,127.0.0.2", "--host=127.0.0.2"}).nnodes, 2);
  EXPECT_EQ(job_with({"--ips=localhost"}).ips, Words{"localhost"});
}

TEST(ListOrMaster, RefusesBothWhenBothWereTyped) {
  expect_errors({{{kTwoNodes, kMaster}, {kTwoNodes, kMaster, "contradict each other"}},
                 {{kTwoNodes, kMaster, "--nnodes=2"}, {kTwoNodes, kMaster, "leave out"}}});
}

TEST(ListOrMaster, LetsTheTypedListBeatTheVariableOfTheMaster) {
  const ParsedCommandLine line =
      parsed({kTwoNodes, "train.py"}, {{"PADDLE_MASTER", "10.0.0.9:6768"}});
  EXPECT_EQ(line.job.ips.size(), 2U);
  EXPECT_EQ(line.job.master, std::nullopt);
  EXPECT_EQ(line.warnings, Words{"PADDLE_MASTER=10.0.0.9:6768 is not used: --ips=10.0.0.1,10.0.0.2 "
                                 "names the nodes"});
  EXPECT_TRUE(line.notices.empty());
}

TEST(ListOrMaster, LetsTheTypedMasterBeatTheVariableOfTheList) {
  const ParsedCommandLine line =
      parsed({kMaster, "--nnodes=4", "train.py"}, {{"PADDLE_IPS", kList}});
  EXPECT_EQ(line.job.master, (MeetingPoint{"10.0.0.1", 6768}));
  EXPECT_EQ(line.job.nnodes, 4);
  EXPECT_FALSE(line.job.ips_given);
  EXPECT_EQ(line.job.ips, Words{"127.0.0.1"});
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_IPS=10.0.0.1,10.0.0.2 is not used: the command line"),
            0U);
}

TEST(ListOrMaster, NeverShrinksAListToOneNodeForATypedMaster) {
  const std::string text = usage_error_with({kMaster}, {{"PADDLE_IPS", kList}});
  EXPECT_NE(text.find("unset PADDLE_IPS"), std::string::npos) << text;
}

TEST(ListOrMaster, PrefersTheListAmongVariables) {
  const ParsedCommandLine line =
      parsed({"train.py"},
             {{"PADDLE_IPS", kList}, {"PADDLE_MASTER", "10.0.0.1:1"}, {"PADDLE_NNODES", "2"}});
  EXPECT_EQ(line.job.ips_source, "PADDLE_IPS");
  EXPECT_EQ(line.job.master, std::nullopt);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_MASTER=10.0.0.1:1 is not used"), 0U) << line.warnings[0];
}

TEST(SortIp, HasNoEffectWithAList) {
  const ParsedCommandLine line = parsed({kTwoNodes, "--sort_ip=true", "train.py"});
  EXPECT_FALSE(line.job.sort_ip);
  EXPECT_EQ(line.notices,
            Words{"--sort_ip=True has no effect: --ips has the nodes in their order"});
  EXPECT_TRUE(parsed({kMaster, "--nnodes=2", "--sort_ip=true", "train.py"}).notices.empty());
}

}  // namespace
}  // namespace paddle_launch
