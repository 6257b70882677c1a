// SPDX-License-Identifier: Apache-2.0
// Option, variable, default: which one counts, and what is said about it.
#include "launcher/cli/environment_defaults.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

struct Row {
  std::string variable;
  std::string value;
  std::string key;
};

TEST(EnvironmentDefaults, FillTheOptionsThatWereNotTyped) {
  for (const Row& row : {Row{"POD_IP", "10.0.0.7", "host"},
                         {"PADDLE_MASTER", "10.0.0.1:6768", "master"},
                         {"PADDLE_DEVICES", "0,1", "devices"},
                         {"PADDLE_NNODES", "1", "nnodes"},
                         {"PADDLE_RUN_MODE", "collective", "run_mode"},
                         {"PADDLE_LOG_LEVEL", "DEBUG", "log_level"},
                         {"PADDLE_LOG_OVERWRITE", "True", "log_overwrite"},
                         {"PADDLE_SORT_IP", "True", "sort_ip"},
                         {"PADDLE_NPROC_PER_NODE", "2", "nproc_per_node"},
                         {"PADDLE_JOB_ID", "job-1", "job_id"},
                         {"PADDLE_RANK", "0", "rank"},
                         {"PADDLE_LOG_DIR", "out", "log_dir"},
                         {"PADDLE_MAX_RESTART", "0", "max_restart"},
                         {"PADDLE_ELASTIC_LEVEL", "-1", "elastic_level"},
                         {"PADDLE_ELASTIC_TIMEOUT", "60", "elastic_timeout"},
                         {"PADDLE_ELASTIC_TTL", "10", "elastic_ttl"},
                         {"PADDLE_ELASTIC_FORCE", "True", "force"},
                         {"PADDLE_ETCD_USER", "root", "etcd_user"},
                         {"PADDLE_SERVER_NUM", "2", "server_num"},
                         {"PADDLE_TRAINER_NUM", "2", "trainer_num"},
                         {"PADDLE_SERVERS_ENDPOINTS", "10.0.0.1:6170", "servers"},
                         {"PADDLE_TRAINERS_ENDPOINTS", "10.0.0.1:6171", "trainers"},
                         {"PADDLE_GLOO_PORT", "6767", "gloo_port"},
                         {"PADDLE_WITH_GLOO", "1", "with_gloo"},
                         {"PADDLE_START_PORT", "6170", "start_port"},
                         {"FLAGS_START_PORT", "6170", "start_port"},
                         {"PADDLE_IPS", "10.0.0.1", "ips"},
                         {"PADDLE_DISTRI_BACKEND", "gloo", "backend"},
                         {"PADDLE_ELASTIC_SERVER", "10.0.0.9:2379", "elastic_server"},
                         {"PADDLE_ELASTIC_NP", "2", "np"},
                         {"PADDLE_LAUNCH_PORT", "7060", "bootstrap_port"},
                         {"PADDLE_LAUNCH_BOOTSTRAP", "pmix", "bootstrap"},
                         {"PADDLE_LAUNCH_NCCL_LIB", "/opt/libnccl.so.2", "nccl_lib"},
                         {"PADDLE_LAUNCH_ASSUME_GPUS", "True", "assume_gpus"}}) {
    GivenOptions given;
    Remarks remarks;
    add_environment_defaults({{row.variable, row.value}}, given, remarks);
    ASSERT_NE(given.find(row.key), nullptr) << row.variable;
    EXPECT_EQ(given.find(row.key)->name, row.variable);
    EXPECT_EQ(given.find(row.key)->text, row.value);
    EXPECT_TRUE(remarks.warnings.empty());
  }
}

TEST(EnvironmentDefaults, LoseToTheOptionWithOneWarning) {
  const ParsedCommandLine line =
      parsed({"--log_dir=typed", "train.py"}, {{"PADDLE_LOG_DIR", "exported"}});
  EXPECT_EQ(line.job.log_dir, "typed");
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(missing_part(line.warnings[0],
                         {"PADDLE_LOG_DIR=exported is not used", "--log_dir=typed", "Paddle's"}),
            "");
}

TEST(EnvironmentDefaults, AreNotMentionedWhenTheySayTheSame) {
  EXPECT_TRUE(parsed({"--log_overwrite=yes", "--nproc_per_node=2", "train.py"},
                     {{"PADDLE_LOG_OVERWRITE", "1"}, {"PADDLE_NPROC_PER_NODE", "02"}})
                  .warnings.empty());
}

TEST(EnvironmentDefaults, WarnOnceForEachVariable) {
  const ParsedCommandLine line =
      parsed({"--log_dir=a", "--job_id=b", "train.py"},
             {{"PADDLE_LOG_DIR", "x"}, {"PADDLE_JOB_ID", "y"}, {"PADDLE_NNODES", "1"}});
  EXPECT_EQ(line.warnings.size(), 2U);
}

TEST(EnvironmentDefaults, AreNotReadWhereTheOptionWinsOverABadValue) {
  const ParsedCommandLine line = parsed({"--nnodes=1", "train.py"}, {{"PADDLE_NNODES", "many"}});
  EXPECT_EQ(line.warnings.size(), 1U);
}

TEST(EnvironmentDefaults, NameTheVariableWhenItsValueIsBad) {
  EXPECT_EQ(
      missing_part(usage_error_of({"train.py"}, {{"PADDLE_NPROC_PER_NODE", "0"}}),
                   {"PADDLE_NPROC_PER_NODE=0", "--nproc_per_node", "from 1 to 4096", "unset"}),
      "");
  EXPECT_NE(usage_error_of({"train.py"}, {{"PADDLE_LAUNCH_ASSUME_GPUS", "maybe"}})
                .find("PADDLE_LAUNCH_ASSUME_GPUS=maybe"),
            std::string::npos);
}

TEST(EnvironmentDefaults, CountEmptyVariablesAsUnset) {
  EXPECT_EQ(job_of({"train.py"}, {{"PADDLE_LOG_DIR", ""}, {"PADDLE_NNODES", ""}, {"POD_IP", ""}}),
            job_of({"train.py"}));
}

TEST(EnvironmentDefaults, PreferPaddleStartPortToTheFlag) {
  const ParsedCommandLine line =
      parsed({"train.py"}, {{"PADDLE_START_PORT", "6170"}, {"FLAGS_START_PORT", "7170"}});
  EXPECT_EQ(line.job.start_port, 6170);
  EXPECT_EQ(line.job.start_port_source, "PADDLE_START_PORT");
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_EQ(line.warnings[0],
            "FLAGS_START_PORT=7170 is not used: PADDLE_START_PORT=6170 comes first");
  EXPECT_TRUE(parsed({"train.py"}, {{"PADDLE_START_PORT", "6170"}, {"FLAGS_START_PORT", "6170"}})
                  .warnings.empty());
}

TEST(EnvironmentDefaults, LetAnyCardOptionBeatPaddleDevices) {
  const ParsedCommandLine line = parsed({"--xpus=2,3", "train.py"}, {{"PADDLE_DEVICES", "0,1"}});
  EXPECT_EQ(line.job.cards, (CardChoice{"--xpus", CardKind::Xpu, "2,3"}));
  EXPECT_EQ(line.warnings.size(), 1U);
  EXPECT_TRUE(parsed({"--gpus=0,1", "train.py"}, {{"PADDLE_DEVICES", "0,1"}}).warnings.empty());
}

TEST(EnvironmentDefaults, ChangeNothingButTheHostForPodIp) {
  JobSpec job = job_of({"train.py"}, {{"POD_IP", "10.0.0.7"}});
  EXPECT_EQ(job.host, "10.0.0.7");
  EXPECT_EQ(job.ips, std::vector<std::string>{"127.0.0.1"});
  EXPECT_EQ(job.mode, Mode::Collective);
}

TEST(EnvironmentDefaults, AreLeftAloneInsideATrainerOfAnotherLaunch) {
  const Environment env = {{"PADDLE_LAUNCH_JOB", "x"},
                           {"PADDLE_NNODES", "4"},
                           {"PADDLE_MASTER", "10.0.0.1:1"},
                           {"FLAGS_START_PORT", "6170"},
                           {"POD_IP", "10.0.0.7"},
                           {"PADDLE_LAUNCH_ASSUME_GPUS", "1"},
                           {"PADDLE_LAUNCH_PORT", "7060"},
                           {"PADDLE_LAUNCH_TOKEN", "swordfish"},
                           {"PADDLE_LAUNCH_BOOTSTRAP", "pmix"},
                           {"PADDLE_LAUNCH_NCCL_LIB", "/n"}};
  const ParsedCommandLine line = parsed({"--nproc_per_node=2", "train.py"}, env);
  EXPECT_EQ(line.job.host, std::nullopt);
  EXPECT_EQ(line.job.start_port, std::nullopt);
  EXPECT_TRUE(line.job.assume_cards);
  EXPECT_EQ(line.job.bootstrap_port, 7060);
  EXPECT_EQ(line.job.token, "swordfish");
  EXPECT_EQ(line.job.bootstrap, "auto") << "the outer job's PMIx is not there any more";
  EXPECT_EQ(line.job.nccl_lib, "/n");
  EXPECT_TRUE(line.warnings.empty());
  ASSERT_EQ(line.notices.size(), 1U);
  EXPECT_NE(line.notices[0].find("PADDLE_LAUNCH_JOB is set"), std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
