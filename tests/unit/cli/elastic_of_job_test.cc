// SPDX-License-Identifier: Apache-2.0
// Which command lines make a job elastic, and which of them cannot be.
#include "launcher/cli/elastic_of_job.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kServer = "--elastic_server=10.0.0.9:2379";
constexpr const char* kMaster = "--master=etcd://10.0.0.9:2379";

Words elastic_with(const Words& more) {
  Words options = {kServer, "--job_id=j", "--np=2:4"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

ParsedCommandLine parsed_with(Words options, const Environment& env = {}) {
  options.emplace_back("train.py");
  return parsed(options, env);
}

TEST(ElasticOfJob, IsNoneWithoutEtcd) {
  EXPECT_EQ(job_of({"train.py"}).elastic, std::nullopt);
  EXPECT_EQ(job_with({"--nnodes=1:1"}).elastic, std::nullopt);
  EXPECT_EQ(job_of({"train.py"}, {{"PADDLE_ETCD_USER", "root:x"}}).elastic, std::nullopt);
}

TEST(ElasticOfJob, HasTheDefaults) {
  const JobSpec job = job_with(elastic_with({"--host=10.0.0.1"}));
  ASSERT_TRUE(job.elastic);
  ElasticSpec expected;
  expected.etcd.endpoints = {"10.0.0.9:2379"};
  expected.etcd.source = "--elastic_server";
  expected.nodes = {2, 4};
  expected.nodes_source = "--np";
  EXPECT_EQ(*job.elastic, expected);
  EXPECT_EQ(job.elastic->timeout, seconds(120));
  EXPECT_EQ(job.nnodes, 4);
  EXPECT_EQ(job.ips, Words{"127.0.0.1"});
  EXPECT_EQ(job.master, std::nullopt);
  EXPECT_EQ(job.job_id, "j");
  EXPECT_EQ(job.host, "10.0.0.1");
  EXPECT_TRUE(job.has_several_nodes());
  EXPECT_EQ(parsed_with(elastic_with({})).notices, Words{});
  EXPECT_EQ(parsed_with(elastic_with({})).warnings, Words{});
}

TEST(ElasticOfJob, TakesItsSettings) {
  const JobSpec job = job_with(
      elastic_with({"--elastic_timeout=0.5", "--elastic_settle=0", "--elastic_ttl=5",
                    "--elastic_level=0", "--force=yes", "--elastic_pre_hook=echo hi", "--np=3"}));
  EXPECT_EQ(job.elastic->timeout, milliseconds(500));
  EXPECT_EQ(job.elastic->settle, milliseconds(0));
  EXPECT_EQ(job.elastic->ttl, seconds(5));
  EXPECT_EQ(job.elastic->level, 0);
  EXPECT_TRUE(job.elastic->force);
  EXPECT_EQ(job.elastic->pre_hook, "echo hi");
  EXPECT_EQ(job.elastic->nodes, (NodeRange{3, 3}));
}

TEST(ElasticOfJob, TakesTheNewerSpelling) {
  const ParsedCommandLine line =
      parsed_with({"--master=etcd://etcd-t:2379,dct:2379", "--nnodes=2:4"});
  ASSERT_TRUE(line.job.elastic);
  EXPECT_EQ(line.job.elastic->etcd.endpoints, (Words{"etcd-t:2379", "dct:2379"}));
  EXPECT_EQ(line.job.elastic->etcd.source, "--master");
  EXPECT_EQ(line.job.elastic->nodes, (NodeRange{2, 4}));
  EXPECT_EQ(line.job.elastic->nodes_source, "--nnodes");
  EXPECT_EQ(line.job.master, std::nullopt);
  EXPECT_EQ(line.job.nnodes, 4);
  EXPECT_EQ(line.job.job_id, "default");
  ASSERT_EQ(line.notices.size(), 1U);
  EXPECT_EQ(line.notices[0].find("--job_id is not given"), 0U) << line.notices[0];
  EXPECT_EQ(parsed_with({kMaster, "--nnodes=2", "--job_id=j"}).notices, Words{});
  EXPECT_EQ(job_with({kMaster, "--np=2:3"}).elastic->nodes_source, "--np");
}

TEST(ElasticOfJob, MayBeAnRpcJob) {
  EXPECT_TRUE(job_with(elastic_with({"--run_mode=rpc"})).elastic);
}

TEST(ElasticOfJob, TakesPaddlesVariables) {
  const Environment env = {{"PADDLE_ELASTIC_SERVER", "etcd:2379"},
                           {"PADDLE_ELASTIC_NP", "2:4"},
                           {"PADDLE_ELASTIC_JOB_ID", "j1"},
                           {"PADDLE_ELASTIC_TIMEOUT", "60"},
                           {"PADDLE_ELASTIC_TTL", "9"},
                           {"PADDLE_ELASTIC_FORCE", "1"},
                           {"PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL", "2"},
                           {"POD_IP", "10.0.0.1"}};
  const ParsedCommandLine line = parsed({"train.py"}, env);
  ASSERT_TRUE(line.job.elastic);
  EXPECT_EQ(line.job.elastic->etcd.source, "PADDLE_ELASTIC_SERVER");
  EXPECT_EQ(line.job.elastic->nodes_source, "PADDLE_ELASTIC_NP");
  EXPECT_EQ(line.job.elastic->timeout, seconds(60));
  EXPECT_EQ(line.job.elastic->ttl, seconds(9));
  EXPECT_TRUE(line.job.elastic->force);
  EXPECT_EQ(line.job.elastic->level, 1);
  EXPECT_EQ(line.job.job_id, "j1");
  EXPECT_EQ(line.job.host, "10.0.0.1");
  EXPECT_EQ(line.warnings, Words{});
  EXPECT_EQ(job_of({"train.py"}, {{"PADDLE_ELASTIC_JOB_ID", "j1"}}).job_id, "default");
  Environment pod = env;
  pod["DISTRIBUTED_TRAINER_ENDPOINTS"] = "10.0.0.1:8001";
  const Words notices = parsed({"train.py"}, pod).notices;
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].find("the ports in DISTRIBUTED_TRAINER_ENDPOINTS are not used"), 0U);
}

TEST(ElasticOfJob, TakesTheServiceOfKubernetes) {
  Environment env = {{"PADDLE_ELASTIC_ETCD_SERVICE_HOST", "10.1.2.3"},
                     {"PADDLE_ELASTIC_ETCD_SERVICE_PORT", "2379"}};
  EXPECT_EQ(job_of({"train.py"}, env).elastic, std::nullopt)
      << "the service alone asks for nothing";
  const JobSpec job = job_with({"--np=2", "--job_id=j"}, env);
  ASSERT_TRUE(job.elastic);
  EXPECT_EQ(job.elastic->etcd.endpoints, Words{"10.1.2.3:2379"});
  EXPECT_EQ(job.elastic->etcd.source, "PADDLE_ELASTIC_ETCD_SERVICE_HOST");
  EXPECT_EQ(job_with(elastic_with({}), env).elastic->etcd.source, "--elastic_server");
  env.erase("PADDLE_ELASTIC_ETCD_SERVICE_PORT");
  EXPECT_EQ(usage_error_with({"--np=2", "--job_id=j"}, env).find("--np=2: "), 0U);
}

TEST(ElasticOfJob, TellsOfTheVariableThatWouldScale) {
  const Environment env = {{"PADDLE_ELASTIC_SCALE", "1"}};
  const ParsedCommandLine line = parsed_with(elastic_with({}), env);
  ASSERT_EQ(line.notices.size(), 1U);
  EXPECT_EQ(line.notices[0].find("PADDLE_ELASTIC_SCALE=1 has no effect"), 0U);
  EXPECT_EQ(parsed_with(elastic_with({}), {{"PADDLE_ELASTIC_SCALE", "0"}}).notices, Words{});
}

TEST(ElasticOfJob, LetsEtcdNameTheNodesOfACloud) {
  const Environment cloud = {{"PADDLE_TRAINERS", "10.0.0.1,10.0.0.2"},
                             {"POD_IP", "10.0.0.2"},
                             {"PADDLE_TRAINER_ID", "1"},
                             {"TRAINER_PORTS_NUM", "1"}};
  const JobSpec job = job_with(elastic_with({}), cloud);
  EXPECT_EQ(job.ips, Words{"127.0.0.1"});
  EXPECT_EQ(job.node_rank, std::nullopt);
  EXPECT_EQ(job.host, "10.0.0.2");
}

TEST(ElasticOfJob, IgnoresAListOfOneNodeWithAWord) {
  const ParsedCommandLine line = parsed_with(elastic_with({"--ips=10.0.0.1"}));
  EXPECT_EQ(line.job.ips, Words{"127.0.0.1"});
  EXPECT_FALSE(line.job.ips_given);
  ASSERT_EQ(line.notices.size(), 1U);
  EXPECT_EQ(line.notices[0].find("--ips=10.0.0.1 has no effect"), 0U);
  const ParsedCommandLine exported =
      parsed_with(elastic_with({}), {{"PADDLE_IPS", "10.0.0.1,10.0.0.2"}});
  EXPECT_EQ(exported.job.ips, Words{"127.0.0.1"});
  EXPECT_EQ(exported.warnings, Words{"PADDLE_IPS=10.0.0.1,10.0.0.2 is not used: the nodes meet at "
                                     "--elastic_server=10.0.0.9:2379"});
}

TEST(ElasticOfJob, TellsOfARankThatHasNoEffect) {
  const ParsedCommandLine line = parsed_with(elastic_with({"--rank=9", "--sort_ip=1"}));
  EXPECT_EQ(line.job.node_rank, std::nullopt);
  ASSERT_EQ(line.notices.size(), 2U);
  EXPECT_EQ(line.notices[0].find("--sort_ip=True has no effect: the nodes of an elastic"), 0U);
  EXPECT_EQ(line.notices[1].find("--rank=9 has no effect: the nodes of an elastic"), 0U);
  EXPECT_EQ(parsed_with(elastic_with({"--rank=-1"})).notices, Words{});
}

TEST(ElasticOfJob, LetsAnOptionBeatTheVariableOfAnotherSpelling) {
  const ParsedCommandLine server =
      parsed_with(elastic_with({}), {{"PADDLE_MASTER", "10.0.0.1:6768"}, {"PADDLE_NNODES", "2"}});
  EXPECT_EQ(server.job.elastic->etcd.source, "--elastic_server");
  EXPECT_EQ(server.job.elastic->nodes, (NodeRange{2, 4}));
  EXPECT_EQ(server.job.master, std::nullopt);
  EXPECT_EQ(server.warnings.size(), 2U);
  const ParsedCommandLine master =
      parsed_with({kMaster, "--nnodes=2", "--job_id=j"}, {{"PADDLE_ELASTIC_SERVER", "a:1"}});
  EXPECT_EQ(master.job.elastic->etcd.source, "--master");
  EXPECT_EQ(master.warnings.size(), 1U);
}

TEST(ElasticOfJob, RefusesWhatIsNoServer) {
  for (const char* const value : {"10.0.0.9", "10.0.0.9:", ":2379", "10.0.0.9:x", "a:1,,b:1"}) {
    const std::string option = std::string("--elastic_server=") + value;
    EXPECT_EQ(usage_error_with({option, "--job_id=j", "--np=2"}).find(option + " is refused: "),
              0U);
  }
}

TEST(ElasticOfJob, RefusesAJobThatLacksAPart) {
  expect_errors({{{kServer, "--np=2"}, {kServer, "--job_id=NAME"}},
                 {{kServer, "--job_id=j"}, {kServer, "--np=N"}},
                 {{kServer, "--job_id=j", "--nnodes=2:4"}, {kServer, "--np=2:4"}},
                 {{kServer}, {kServer, "--np=N"}},
                 {{kMaster}, {kMaster, "--nnodes=N"}},
                 {{"--np=2"}, {"--np=2: ", "--elastic_server=HOST:PORT"}},
                 {{"--nnodes=2:4"}, {"--nnodes=2:4: a range", "--master=etcd://HOST:PORT"}},
                 {{"--nnodes=2:4", "--master=10.0.0.1:1"}, {"--nnodes=2:4", "--master=etcd://"}},
                 {{"--nnodes=1:2"}, {"--nnodes=1:2: a range"}},
                 {{"--ips=10.0.0.1,10.0.0.2", "--nnodes=2:4"}, {"--nnodes=2:4: a range"}}});
  EXPECT_NE(usage_error_of({"t.py"}, {{"PADDLE_ELASTIC_NP", "2"}}).find("unset PADDLE_ELASTIC_NP"),
            std::string::npos);
}

TEST(ElasticOfJob, RefusesNumbersOfNodesThatCannotBe) {
  for (const char* const np : {"0", "x", "4:2", "0:2", "2:", "-1", "2:x"}) {
    const std::string option = std::string("--np=") + np;
    EXPECT_EQ(usage_error_with({kServer, "--job_id=j", option}).find(option + " is refused"), 0U);
  }
  expect_errors({{elastic_with({"--nnodes=2"}), {"--np=2:4 and --nnodes=2 contradict"}}});
  EXPECT_EQ(job_with(elastic_with({"--nnodes=2:4"})).nnodes, 4);
}

TEST(ElasticOfJob, RefusesWhatCannotBeElastic) {
  expect_errors(
      {{elastic_with({"--ips=10.0.0.1,10.0.0.2"}), {kServer, "--ips=10.0.0.1,10.0.0.2"}},
       {elastic_with({"--master=10.0.0.1:6768"}), {kServer, "--master=10.0.0.1:6768"}},
       {elastic_with({"--master=etcd://a:1"}), {kServer, "--master=etcd://a:1"}},
       {elastic_with({"--server_num=1", "--worker_num=1"}), {kServer, "--server_num=1", "only"}},
       {elastic_with({"--run_mode=ps"}), {kServer, "--run_mode=ps", "only collective"}},
       {elastic_with({"--bootstrap=mpi"}), {kServer, "--bootstrap=mpi"}},
       {elastic_with({"--check"}), {kServer, "--check"}},
       {{kServer, "--np=2", "--job_id=a/b"}, {"--job_id=a/b: ", "slash"}}});
  EXPECT_TRUE(job_with(elastic_with({"--bootstrap=auto", "--dry_run"})).elastic);
}

TEST(ElasticOfJob, RefusesTheServersOfAPlatform) {
  const Environment role = {
      {"TRAINING_ROLE", "PSERVER"},     {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:6170"},
      {"POD_IP", "10.0.0.1"},           {"PADDLE_PORT", "6170"},
      {"PADDLE_ELASTIC_SERVER", "a:1"}, {"PADDLE_ELASTIC_NP", "2"},
      {"PADDLE_ELASTIC_JOB_ID", "j"}};
  const std::string text = usage_error_of({"train.py"}, role);
  EXPECT_EQ(text.find("PADDLE_ELASTIC_SERVER=a:1: TRAINING_ROLE"), 0U) << text;
  EXPECT_TRUE(job_with({"--run_mode=collective"}, role).elastic);
  EXPECT_TRUE(job_with({"--elastic_server=b:1"}, role).elastic) << "what was typed decides";
}

}  // namespace
}  // namespace paddle_launch
