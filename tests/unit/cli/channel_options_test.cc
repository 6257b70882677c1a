// SPDX-License-Identifier: Apache-2.0
// The options of the channel between the launchers of several nodes.
#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kTwoNodes = "--ips=10.0.0.1,10.0.0.2";
constexpr const char* kSecret = "swordfish-0123456789";

std::string all_text(const ParsedCommandLine& line) {
  std::string text;
  for (const std::string& notice : line.notices) text += notice + "\n";
  for (const std::string& warning : line.warnings) text += warning + "\n";
  for (const auto& [name, value] : line.job.arguments) text.append(name).append(value);
  return text;
}

TEST(ChannelOptions, HaveTheirDefaults) {
  const JobSpec job = job_with({kTwoNodes});
  EXPECT_EQ(job.bootstrap, "auto");
  EXPECT_EQ(job.bootstrap_port, 6060);
  EXPECT_EQ(job.bootstrap_timeout, seconds(900));
  EXPECT_EQ(job.heartbeat, seconds(10));
  EXPECT_EQ(job.token, std::nullopt);
  EXPECT_EQ(job.token_file, std::nullopt);
  EXPECT_FALSE(job.check);
}

TEST(ChannelOptions, FillTheJob) {
  const JobSpec job = job_with({kTwoNodes, "--bootstrap_port=65526", "--bootstrap_timeout=2.5",
                                "--heartbeat=3600", "--token_file=/etc/secret", "--check"});
  EXPECT_EQ(job.bootstrap_port, 65526);
  EXPECT_EQ(job.bootstrap_timeout, milliseconds(2500));
  EXPECT_EQ(job.heartbeat, seconds(3600));
  EXPECT_EQ(job.token_file, "/etc/secret");
  EXPECT_TRUE(job.check);
}

struct BadValue {
  std::string option;
  std::string takes;
};

TEST(ChannelOptions, AreRefusedByNameWhenTheirValueIsBad) {
  for (const BadValue& row : {BadValue{"--bootstrap_port=0", "from 1 to 65526"},
                              {"--bootstrap_port=65527", "from 1 to 65526"},
                              {"--bootstrap_timeout=-1", "seconds from 0"},
                              {"--bootstrap_timeout=soon", "seconds from 0"},
                              {"--heartbeat=1", "from 2 to 3600"},
                              {"--heartbeat=3601", "from 2 to 3600"},
                              {"--heartbeat=2.5", "from 2 to 3600"},
                              {"--token_file=", "not empty"},
                              {"--check=1", "takes no value"}}) {
    const std::string text = usage_error_with({kTwoNodes, row.option});
    EXPECT_EQ(text.find(row.option), 0U) << text;
    EXPECT_NE(text.find(row.takes), std::string::npos) << text;
  }
}

TEST(Bootstrap, IsAWayToMeetOrAPluginOfTheSite) {
  for (const char* const name : {"auto", "solo", "tcp", "mpi", "pmix", "our-flux_2"}) {
    EXPECT_EQ(job_with({std::string("--bootstrap=") + name}).bootstrap, name);
  }
  EXPECT_EQ(job_with({}, {{"PADDLE_LAUNCH_BOOTSTRAP", "mpi"}}).bootstrap, "mpi");
}

TEST(Bootstrap, IsNoPath) {
  for (const char* const option :
       {"--bootstrap=", "--bootstrap=/lib/x.so", "--bootstrap=../x", "--bootstrap=x.so"}) {
    const std::string text = usage_error_with({option});
    EXPECT_EQ(text.find(option), 0U) << text;
    EXPECT_NE(text.find("the name of a plugin"), std::string::npos) << text;
  }
}

TEST(StoreDoorOption, IsOnUnlessSaid) {
  EXPECT_TRUE(job_with({}).store_door);
  EXPECT_FALSE(job_with({"--store_door=off"}).store_door);
  EXPECT_EQ(usage_error_with({"--store_door=ajar"}).find("--store_door=ajar"), 0U);
}

TEST(NcclOptions, FillTheJob) {
  const JobSpec plain = job_with({});
  EXPECT_EQ(plain.nccl_lib, std::nullopt);
  EXPECT_TRUE(plain.nccl_ids);
  const JobSpec job = job_with({"--nccl_lib=/opt/libnccl.so.2", "--nccl_ids=off"});
  EXPECT_EQ(job.nccl_lib, "/opt/libnccl.so.2");
  EXPECT_FALSE(job.nccl_ids);
  EXPECT_TRUE(job_with({"--nccl_ids=on"}).nccl_ids);
  EXPECT_EQ(usage_error_with({"--nccl_ids=maybe"}).find("--nccl_ids=maybe"), 0U);
}

TEST(BootstrapPort, HasAVariable) {
  EXPECT_EQ(job_with({kTwoNodes}, {{"PADDLE_LAUNCH_PORT", "7060"}}).bootstrap_port, 7060);
  EXPECT_EQ(job_with({kTwoNodes, "--bootstrap_port=8060"}, {{"PADDLE_LAUNCH_PORT", "7060"}})
                .bootstrap_port,
            8060);
}

TEST(Token, ComesFromItsVariableAndIsShownNowhere) {
  const ParsedCommandLine line =
      parsed({kTwoNodes, "train.py"}, {{"PADDLE_LAUNCH_TOKEN", kSecret}});
  EXPECT_EQ(line.job.token, kSecret);
  EXPECT_EQ(all_text(line).find(kSecret), std::string::npos);
  EXPECT_EQ(job_with({kTwoNodes}, {{"PADDLE_LAUNCH_TOKEN", ""}}).token, std::nullopt);
}

TEST(Token, LosesToTheTokenFileWithoutBeingShown) {
  const ParsedCommandLine line =
      parsed({kTwoNodes, "--token_file=f", "train.py"}, {{"PADDLE_LAUNCH_TOKEN", kSecret}});
  EXPECT_EQ(line.job.token, std::nullopt);
  EXPECT_EQ(line.job.token_file, "f");
  EXPECT_EQ(line.warnings,
            Words{"PADDLE_LAUNCH_TOKEN is not used: the command line says --token_file=f"});
}

TEST(Check, WantsSeveralNodes) {
  const std::string text = usage_error_with({"--check"});
  EXPECT_EQ(text.find("--check: there is one node"), 0U) << text;
  EXPECT_NE(text.find("--ips="), std::string::npos) << text;
  EXPECT_NE(text.find("--master="), std::string::npos) << text;
  EXPECT_TRUE(job_with({"--check", "--master=10.0.0.1:6768", "--nnodes=2"}).check);
}

TEST(Check, ContradictsADryRun) {
  const std::string text = usage_error_with({kTwoNodes, "--check", "--dry_run=json"});
  EXPECT_EQ(text.find("--check and --dry_run=json contradict each other"), 0U) << text;
}

TEST(ChannelOptions, AreTypedInVainForOneNode) {
  for (const char* const option :
       {"--bootstrap_port=7060", "--bootstrap_timeout=5", "--heartbeat=5", "--token_file=f"}) {
    EXPECT_EQ(parsed({option, "train.py"}).notices,
              Words{std::string(option) + " has no effect: there is one node"});
    EXPECT_TRUE(parsed({option, kTwoNodes, "train.py"}).notices.empty()) << option;
  }
}

TEST(ChannelOptions, AreNotMentionedForOneNodeWhenAVariableGaveThem) {
  EXPECT_TRUE(
      parsed({"train.py"}, {{"PADDLE_LAUNCH_PORT", "7060"}, {"PADDLE_LAUNCH_TOKEN", kSecret}})
          .notices.empty());
}

TEST(BootstrapPort, IsTypedInVainWithAMaster) {
  EXPECT_EQ(
      parsed({"--bootstrap_port=7060", "--master=10.0.0.1:6768", "--nnodes=2", "train.py"}).notices,
      Words{"--bootstrap_port=7060 has no effect: --master names the port"});
}

}  // namespace
}  // namespace paddle_launch
