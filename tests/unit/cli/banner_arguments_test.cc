// SPDX-License-Identifier: Apache-2.0
// The arguments as the banner shows them.
#include <gtest/gtest.h>

#include "launcher/cli/job_from_options.h"
#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using Arguments = std::vector<std::pair<std::string, std::string>>;

std::string shown(const JobSpec& job, const std::string& key) {
  for (const auto& [name, value] : job.arguments) {
    if (name == key) return value;
  }
  return "(not shown)";
}

TEST(BannerArguments, AreTheNineOfTheDocuments) {
  EXPECT_EQ(job_of({"fleetx_res.py"}).arguments, (Arguments{{"gpus", "None"},
                                                            {"ips", "127.0.0.1"},
                                                            {"log_dir", "log"},
                                                            {"server_num", "None"},
                                                            {"servers", ""},
                                                            {"training_script", "fleetx_res.py"},
                                                            {"training_script_args", "[]"},
                                                            {"worker_num", "None"},
                                                            {"workers", ""}}));
}

TEST(BannerArguments, ShowWhatElseWasGivenInOrder) {
  const JobSpec job =
      job_of({"--log_overwrite=1", "--nproc_per_node", "2", "--quiet", "t.py", "--a", "it's"},
             {{"PADDLE_JOB_ID", "j1"}});
  EXPECT_EQ(job.arguments, (Arguments{{"gpus", "None"},
                                      {"ips", "127.0.0.1"},
                                      {"job_id", "j1"},
                                      {"log_dir", "log"},
                                      {"log_overwrite", "True"},
                                      {"nproc_per_node", "2"},
                                      {"quiet", "True"},
                                      {"server_num", "None"},
                                      {"servers", ""},
                                      {"training_script", "t.py"},
                                      {"training_script_args", R"(['--a', "it's"])"},
                                      {"worker_num", "None"},
                                      {"workers", ""}}));
}

TEST(BannerArguments, UseTheKeyOfTheKindOfCard) {
  EXPECT_EQ(shown(job_with({"--selected_gpus=0,1"}), "gpus"), "0,1");
  EXPECT_EQ(shown(job_with({"--xpus=0,1"}), "xpus"), "0,1");
  EXPECT_EQ(shown(job_with({"--xpus=0,1"}), "gpus"), "(not shown)");
  EXPECT_EQ(shown(job_with({"--devices=0,1"}), "gpus"), "0,1");
  EXPECT_EQ(shown(job_with({"--devices=0,1"}), "devices"), "(not shown)");
}

TEST(BannerArguments, ShowHowSeveralNodesMeet) {
  const JobSpec list =
      job_with({"--ips=10.0.0.1, 10.0.0.2", "--bootstrap_port=7060", "--heartbeat=5",
                "--bootstrap_timeout=60", "--token_file=secret", "--check"});
  EXPECT_EQ(shown(list, "ips"), "10.0.0.1,10.0.0.2");
  EXPECT_EQ(shown(list, "bootstrap_port"), "7060");
  EXPECT_EQ(shown(list, "bootstrap_timeout"), "60");
  EXPECT_EQ(shown(list, "heartbeat"), "5");
  EXPECT_EQ(shown(list, "token_file"), "secret");
  EXPECT_EQ(shown(list, "check"), "True");
  const JobSpec met = job_with({"--master=10.0.0.1:6768", "--nnodes=2"});
  EXPECT_EQ(shown(met, "master"), "10.0.0.1:6768");
  EXPECT_EQ(shown(met, "nnodes"), "2");
  EXPECT_EQ(shown(met, "ips"), "None");
}

TEST(BannerArguments, ShowAnElasticJobWithoutItsPassword) {
  const JobSpec job = job_with(
      {"--elastic_server=10.0.0.9:2379", "--job_id=j", "--np=2:4", "--etcd_user=root:swordfish"});
  EXPECT_EQ(shown(job, "elastic_server"), "10.0.0.9:2379");
  EXPECT_EQ(shown(job, "np"), "2:4");
  EXPECT_EQ(shown(job, "ips"), "None");
  EXPECT_EQ(shown(job, "etcd_user"), "root");
  for (const auto& [name, value] : job.arguments) {
    EXPECT_EQ(value.find("swordfish"), std::string::npos) << name;
  }
}

TEST(BannerArguments, ShowTheServersAsTheyWereGiven) {
  const JobSpec lists =
      job_with({"--servers= 10.0.0.1:6170, 10.0.0.2:6170", "--workers=10.0.0.1,10.0.0.2",
                "--heter_workers=10.0.0.2:7000;10.0.0.2:7001", "--heter_devices=cpu;gpu"});
  EXPECT_EQ(shown(lists, "servers"), "10.0.0.1:6170,10.0.0.2:6170");
  EXPECT_EQ(shown(lists, "workers"), "10.0.0.1,10.0.0.2");
  EXPECT_EQ(shown(lists, "heter_workers"), "10.0.0.2:7000;10.0.0.2:7001");
  EXPECT_EQ(shown(lists, "heter_devices"), "cpu;gpu");
  EXPECT_EQ(shown(lists, "server_num"), "None");
  EXPECT_EQ(shown(lists, "ips"), "127.0.0.1");
  const JobSpec numbers = job_with({"--server_num=1", "--trainer_num=4"});
  EXPECT_EQ(shown(numbers, "server_num"), "1");
  EXPECT_EQ(shown(numbers, "trainer_num"), "4");
  EXPECT_EQ(shown(numbers, "servers"), "");
}

TEST(BannerArguments, MarkAModule) {
  EXPECT_EQ(shown(job_of({"-m", "pkg.train"}), "training_script"), "-m pkg.train");
}

}  // namespace
}  // namespace paddle_launch
