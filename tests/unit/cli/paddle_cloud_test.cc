// SPDX-License-Identifier: Apache-2.0
// What PaddleCloud's variables mean, and what is said when they contradict each other.
#include "launcher/cli/paddle_cloud.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

constexpr const char* kEndpoints = "DISTRIBUTED_TRAINER_ENDPOINTS";

// The second of two nodes with two ports each, and other variables besides.
Environment second_of_two(const Environment& more = {}) {
  Environment env = {{"PADDLE_TRAINERS", "10.0.0.1,10.0.0.2"},
                     {"POD_IP", "10.0.0.2"},
                     {"PADDLE_TRAINER_ID", "1"},
                     {"TRAINER_PORTS_NUM", "2"}};
  for (const auto& [name, value] : more) env[name] = value;
  return env;
}

void expect_error(const Words& options, const Environment& env, const Words& parts) {
  const std::string text = usage_error_with(options, env);
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
}

TEST(PaddleCloud, NamesTheNodesAndThePlaceOfThisOne) {
  const ParsedCommandLine line =
      parsed({"train.py"}, second_of_two({{"PADDLE_TRAINERS", " 10.0.0.1, 10.0.0.2 "}}));
  EXPECT_EQ(line.job.ips, (Words{"10.0.0.1", "10.0.0.2"}));
  EXPECT_TRUE(line.job.ips_given);
  EXPECT_EQ(line.job.ips_source, "PADDLE_TRAINERS");
  EXPECT_EQ(line.job.nnodes, 2);
  EXPECT_EQ(line.job.host, "10.0.0.2");
  EXPECT_EQ(line.job.host_source, "POD_IP");
  EXPECT_EQ(line.job.node_rank, 1);
  EXPECT_EQ(line.job.start_port, std::nullopt);
  EXPECT_TRUE(line.job.given_ports.empty());
  EXPECT_TRUE(line.warnings.empty());
}

TEST(PaddleCloud, MayBeASingleNode) {
  const JobSpec job = job_of({"train.py"}, second_of_two({{"PADDLE_TRAINERS", "10.0.0.2"},
                                                          {"PADDLE_TRAINER_ID", "0"},
                                                          {"PADDLE_TRAINERS_NUM", "1"},
                                                          {"PADDLE_PORT", "8170"}}));
  EXPECT_EQ(job.ips, Words{"10.0.0.2"});
  EXPECT_EQ(job.node_rank, 0);
  EXPECT_EQ(job.start_port, 8170);
  EXPECT_FALSE(job.has_several_nodes());
}

TEST(PaddleCloud, IsTheWholeSetOrNothing) {
  for (const char* const missing :
       {"PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM"}) {
    const JobSpec job = job_of({"train.py"}, second_of_two({{missing, ""}}));
    EXPECT_FALSE(job.has_several_nodes()) << missing;
    EXPECT_EQ(job.node_rank, std::nullopt) << missing;
  }
}

TEST(PaddleCloud, IsForgottenInsideATrainer) {
  const JobSpec job = job_of({"train.py"}, second_of_two({{"PADDLE_LAUNCH_JOB", "x"}}));
  EXPECT_FALSE(job.has_several_nodes());
  EXPECT_EQ(job.node_rank, std::nullopt);
}

TEST(PaddleCloud, IsNotMeantByANumberOfTrainers) {
  for (const char* const number : {"2", " 2 "}) {
    const JobSpec job =
        job_of({"train.py"}, second_of_two({{"PADDLE_TRAINERS", number}, {kEndpoints, "a:1,b:1"}}));
    EXPECT_FALSE(job.ips_given);
    EXPECT_EQ(job.master, (MeetingPoint{"a", 1}));
  }
}

TEST(PaddleCloud, HasTheRulesOfTheListForItsNodes) {
  expect_error({}, second_of_two({{"PADDLE_TRAINERS", "10.0.0.1,,10.0.0.2"}}),
               {"PADDLE_TRAINERS=10.0.0.1,,10.0.0.2", "an entry is empty"});
  expect_error({}, second_of_two({{"PADDLE_TRAINERS", "127.0.0.1,10.0.0.2"}}),
               {"PADDLE_TRAINERS=127.0.0.1,10.0.0.2", "names each node itself"});
  expect_error({"--nnodes=3"}, second_of_two(), {"--nnodes=3", "PADDLE_TRAINERS=", "2 nodes"});
  const Environment recorded =
      second_of_two({{"PADDLE_TRAINERS", "127.0.0.1,127.0.0.2"}, {"POD_IP", "127.0.0.2"}});
  EXPECT_EQ(job_of({"train.py"}, recorded).ips, (Words{"127.0.0.1", "127.0.0.2"}));
}

TEST(PaddleCloud, TakesNoOtherList) {
  const Words both = {"--ips=10.0.0.2,10.0.0.1", "PADDLE_TRAINERS=10.0.0.1,10.0.0.2"};
  expect_error({"--ips=10.0.0.2,10.0.0.1"}, second_of_two(), both);
  expect_error({}, second_of_two({{"PADDLE_IPS", "10.0.0.2"}}),
               {"PADDLE_IPS=10.0.0.2", "PADDLE_TRAINERS=10.0.0.1,10.0.0.2"});
  const JobSpec same = job_with({"--ips=10.0.0.1, 10.0.0.2"}, second_of_two());
  EXPECT_EQ(same.ips_source, "--ips");
  EXPECT_EQ(same.node_rank, 1);
}

TEST(PaddleCloud, StandsBackForATypedMaster) {
  const ParsedCommandLine line = parsed({"--master=10.0.0.9:6768", "--nnodes=3", "train.py"},
                                        second_of_two({{"PADDLE_PORT", "8170"}}));
  EXPECT_EQ(line.job.master, (MeetingPoint{"10.0.0.9", 6768}));
  EXPECT_EQ(line.job.node_rank, 1);
  EXPECT_EQ(line.job.start_port, std::nullopt);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_TRAINERS=10.0.0.1,10.0.0.2 is not used"), 0U);
}

TEST(PaddleCloud, BeatsTheVariableOfTheMaster) {
  const ParsedCommandLine line =
      parsed({"train.py"}, second_of_two({{"PADDLE_MASTER", "10.0.0.9:6768"}}));
  EXPECT_EQ(line.job.master, std::nullopt);
  EXPECT_EQ(line.job.node_rank, 1);
  EXPECT_EQ(line.warnings.size(), 1U);
}

TEST(PaddleCloud, NumbersItsNodesFromZero) {
  for (const char* const bad : {"2", "-1", "x"}) {
    expect_error({}, second_of_two({{"PADDLE_TRAINER_ID", bad}}),
                 {std::string("PADDLE_TRAINER_ID=") + bad, "PADDLE_TRAINERS=10.0.0.1,10.0.0.2",
                  "from 0 to 1"});
  }
}

TEST(PaddleCloud, HasThisNodeWhereItsNumberSays) {
  expect_error({}, second_of_two({{"PADDLE_TRAINER_ID", "0"}}),
               {"POD_IP=10.0.0.2", "PADDLE_TRAINER_ID=0", "PADDLE_TRAINERS=10.0.0.1,10.0.0.2",
                "node 0 of the list is 10.0.0.1", "10.0.0.2 is node 1; correct PADDLE_TRAINER_ID"});
  expect_error({}, second_of_two({{"POD_IP", "10.0.0.7"}}),
               {"POD_IP=10.0.0.7", "PADDLE_TRAINER_ID=1", "correct POD_IP"});
  expect_error({"--rank=0"}, second_of_two(), {"POD_IP=10.0.0.2", "--rank=0", "correct --rank"});
}

TEST(PaddleCloud, LetsOptionsNameThePlaceAndTheHost) {
  const JobSpec job = job_with({"--rank=0", "--host=10.0.0.1"}, second_of_two());
  EXPECT_EQ(job.node_rank, 0);
  EXPECT_EQ(job.host_source, "--host");
  EXPECT_EQ(job_with({"--rank", "-1"}, second_of_two()).node_rank, 1);
}

TEST(PaddleCloud, NeverLeavesNodesOut) {
  expect_error({},
               second_of_two({{"PADDLE_TRAINERS", "10.0.0.2"},
                              {"PADDLE_TRAINER_ID", "0"},
                              {"PADDLE_TRAINERS_NUM", "2"}}),
               {"PADDLE_TRAINERS=10.0.0.2 names 1 node", "PADDLE_TRAINERS_NUM=2"});
}

TEST(PlatformRank, IsTheNodesNumberWhereTheyMeetAtAMaster) {
  const Words master = {"--master=10.0.0.9:6768", "--nnodes=3"};
  const Environment third = {{"PADDLE_TRAINER_ID", "2"}};
  EXPECT_EQ(job_with(master, third).node_rank, 2);
  EXPECT_EQ(job_with({"--master=10.0.0.9:6768", "--nnodes=3", "--rank=-1"}, third).node_rank, 2);
  EXPECT_EQ(job_with({"--nproc_per_node=3"}, third).node_rank, std::nullopt);
  const Environment inside = {{"PADDLE_TRAINER_ID", "2"}, {"PADDLE_LAUNCH_JOB", "x"}};
  EXPECT_EQ(job_with(master, inside).node_rank, std::nullopt);
  expect_error(master, {{"PADDLE_TRAINER_ID", "3"}},
               {"PADDLE_TRAINER_ID=3", "nodes are 0 to 2", "unset PADDLE_TRAINER_ID"});
}

TEST(PlatformRank, StandsBackForTheOption) {
  const ParsedCommandLine line =
      parsed({"--master=10.0.0.9:6768", "--nnodes=3", "--rank=1", "train.py"},
             {{"PADDLE_TRAINER_ID", "2"}});
  EXPECT_EQ(line.job.node_rank, 1);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_TRAINER_ID=2 is not used"), 0U);
}

TEST(PlatformEndpoints, NameTheMeetingPoint) {
  for (const char* const name : {"PADDLE_TRAINER_ENDPOINTS", kEndpoints}) {
    const ParsedCommandLine line = parsed({"train.py"}, {{name, "10.0.0.1:7000,10.0.0.2:7001"},
                                                         {"POD_IP", "10.0.0.2"},
                                                         {"PADDLE_TRAINER_ID", "1"}});
    EXPECT_EQ(line.job.master, (MeetingPoint{"10.0.0.1", 7000}));
    EXPECT_EQ(line.job.nnodes, 2);
    EXPECT_EQ(line.job.node_rank, 1);
    EXPECT_EQ(line.job.host, "10.0.0.2");
    ASSERT_EQ(line.notices.size(), 1U);
    EXPECT_NE(line.notices[0].find("--master=10.0.0.1:7000 --nnodes=2"), std::string::npos);
  }
  EXPECT_EQ(job_of({"train.py"}, {{kEndpoints, "a, b"}}).master, (MeetingPoint{"a", 6768}));
}

TEST(PlatformEndpoints, OfOneHostOrBesideOptionsAreNoMeetingPoint) {
  const char* const several = "10.0.0.1:7000,10.0.0.2:7001";
  EXPECT_FALSE(job_of({"train.py"}, {{kEndpoints, "10.0.0.1:1,10.0.0.1:2"}}).master);
  EXPECT_FALSE(job_with({"--ips=10.0.0.1"}, {{kEndpoints, several}}).master);
  EXPECT_FALSE(job_of({"train.py"}, {{kEndpoints, several}, {"PADDLE_LAUNCH_JOB", "x"}}).master);
}

TEST(CloudPorts, AreFoundWhereThereIsOneEndpointANode) {
  const Environment env =
      second_of_two({{kEndpoints, "10.0.0.1:8001,10.0.0.2:8001"}, {"TRAINER_PORTS_NUM", "8"}});
  EXPECT_TRUE(job_of({"train.py"}, env).given_ports.empty());
  EXPECT_EQ(job_of({"train.py"}, env).ips.size(), 2U);
}

TEST(CloudPorts, AreThePartOfThisNode) {
  const JobSpec job = job_of(
      {"train.py"}, second_of_two({{kEndpoints, "10.0.0.1:1,10.0.0.1:2, 10.0.0.2:7 ,10.0.0.2:9"},
                                   {"PADDLE_PORT", "8170"}}));
  EXPECT_EQ(job.given_ports, (std::vector<int>{7, 9}));
  EXPECT_EQ(job.start_port, std::nullopt);
}

TEST(CloudPorts, AreAsManyAsTheNodesHave) {
  expect_error({}, second_of_two({{kEndpoints, "10.0.0.1:1,10.0.0.2:1,10.0.0.2:2"}}),
               {kEndpoints, "has 3 endpoints", "2 nodes", "2 ports", "have 4"});
  expect_error({}, second_of_two({{kEndpoints, "a:1"}, {"TRAINER_PORTS_NUM", "two"}}),
               {"TRAINER_PORTS_NUM=two", kEndpoints});
}

TEST(CloudPorts, AreRefusedEachByName) {
  expect_error({}, second_of_two({{kEndpoints, "a:1,a:2,10.0.0.2:7,10.0.0.2"}}),
               {"10.0.0.2 in DISTRIBUTED_TRAINER_ENDPOINTS", "HOST:PORT"});
  expect_error({}, second_of_two({{kEndpoints, "a:1,a:2,10.0.0.2:7,10.0.0.2:7"}}),
               {"10.0.0.2:7 in", "twice"});
  expect_error({}, second_of_two({{kEndpoints, "10.0.0.2:7,10.0.0.2:8,10.0.0.1:7,10.0.0.1:8"}}),
               {"10.0.0.1:7 in", "10.0.0.1 is node 0"});
}

TEST(CloudPorts, BeginAtPaddlePortWithoutEndpoints) {
  const JobSpec job = job_of({"train.py"}, second_of_two({{"PADDLE_PORT", "8170"}}));
  EXPECT_EQ(job.start_port, 8170);
  EXPECT_EQ(job.start_port_source, "PADDLE_PORT");
  const ParsedCommandLine line = parsed({"train.py"}, second_of_two({{"PADDLE_PORT", "0"}}));
  EXPECT_EQ(line.job.start_port, std::nullopt);
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0].find("PADDLE_PORT=0 is not used"), 0U);
}

TEST(CloudPorts, StandBackForOptions) {
  const Environment env = second_of_two({{kEndpoints, "no list"}, {"PADDLE_PORT", "8170"}});
  for (const char* const option : {"--start_port=7170", "--port_range=7000:8000"}) {
    const ParsedCommandLine line = parsed({option, "train.py"}, env);
    EXPECT_TRUE(line.job.given_ports.empty());
    EXPECT_NE(line.job.start_port_source, "PADDLE_PORT");
    EXPECT_EQ(line.warnings,
              Words{std::string(kEndpoints) + " is not used: " + option + " comes first"});
  }
  const ParsedCommandLine flag =
      parsed({"train.py"}, second_of_two({{"FLAGS_START_PORT", "6170"}, {"PADDLE_PORT", "8170"}}));
  EXPECT_EQ(flag.job.start_port, 6170);
  EXPECT_EQ(flag.warnings,
            Words{"PADDLE_PORT=8170 is not used: FLAGS_START_PORT=6170 comes first"});
}

}  // namespace
}  // namespace paddle_launch
