// SPDX-License-Identifier: Apache-2.0
// Heterogeneous workers, Gloo and the waiting for servers.
#include <chrono>

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

Words and_numbers(Words options) {
  options.insert(options.begin(), {"--server_num=1", "--worker_num=4"});
  return options;
}

ServerSpec settings(const Words& options, const Environment& env = {}) {
  return job_with(and_numbers(options), env).servers.value();
}

TEST(HeterWorkers, HaveStages) {
  const JobSpec job = job_with(and_numbers({"--heter_worker_num=1;2;3"}));
  EXPECT_EQ(job.mode, Mode::ParameterServerHeter);
  EXPECT_EQ(job.servers->heter_worker_num, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(job.servers->heter_stages(), 3);
  EXPECT_EQ(job_with({"--servers=a:1", "--workers=a:2", "--heter_workers=a:3,a:4;a:5",
                      "--heter_worker_num=2;1"})
                .servers->heter_workers,
            (std::vector<Words>{{"a:3", "a:4"}, {"a:5"}}));
}

TEST(HeterWorkers, OfTheDocumentsAreOneStage) {
  const ServerSpec spec =
      job_with({"--servers=192.168.0.16:6170", "--workers=192.168.0.16:6171",
                "--heter_workers=192.168.0.16:6172,192.168.0.17:6172", "--heter_worker_num=2"})
          .servers.value();
  EXPECT_EQ(spec.heter_stages(), 1);
  EXPECT_TRUE(spec.heter_worker_num.empty());
}

TEST(HeterWorkers, AgreeWithTheirNumbers) {
  EXPECT_EQ(missing_part({{"--servers=a:1", "--workers=a:2", "--heter_workers=a:3,a:4;a:5",
                           "--heter_worker_num=1;2"},
                          {"--heter_worker_num=1;2 and --heter_workers=a:3,a:4;a:5", "has 2;1"}}),
            "");
  EXPECT_EQ(missing_part({{"--heter_worker_num=0", "--server_num=1", "--worker_num=1"},
                          {"--heter_worker_num=0 is refused", "from 1"}}),
            "");
}

TEST(HeterDevices, AreOneForEachStage) {
  EXPECT_EQ(settings({"--heter_worker_num=1;2", "--heter_devices=gpu; xpu"}).heter_devices,
            (Words{"gpu", "xpu"}));
  EXPECT_EQ(missing_part({and_numbers({"--heter_worker_num=1;2", "--heter_devices=gpu"}),
                          {"--heter_devices=gpu and --heter_worker_num=1;2", "1 stage,", "for 2"}}),
            "");
  EXPECT_EQ(missing_part({and_numbers({"--heter_worker_num=1", "--heter_devices=tpu"}),
                          {"--heter_devices=tpu is refused", "cpu, gpu or xpu"}}),
            "");
}

TEST(HeterDevices, AreTheCpuWithANotice) {
  const ParsedCommandLine line =
      parsed({"--server_num=1", "--worker_num=4", "--heter_worker_num=2;1", "train.py"});
  EXPECT_EQ(line.job.servers->heter_devices, (Words{"cpu", "cpu"}));
  ASSERT_EQ(line.notices.size(), 1U);
  EXPECT_EQ(line.notices[0].find("--heter_devices is not given"), 0U);
  EXPECT_TRUE(parsed({"--server_num=1", "--worker_num=4", "train.py"}).notices.empty());
}

TEST(HttpPort, HasTwoNamesAndAVariable) {
  EXPECT_EQ(settings({}).http_port, std::nullopt);
  EXPECT_EQ(settings({"--http_port=8900"}).http_port, 8900);
  EXPECT_EQ(settings({"--http_port=8900"}).http_port_source, "--http_port");
  EXPECT_EQ(settings({"--gloo_port=8901"}).http_port_source, "--gloo_port");
  EXPECT_EQ(settings({}, {{"PADDLE_GLOO_PORT", "8902"}}).http_port, 8902);
  EXPECT_EQ(settings({}, {{"PADDLE_GLOO_PORT", "8902"}}).http_port_source, "PADDLE_GLOO_PORT");
}

TEST(HttpPort, IsNoEndpointOfTheLists) {
  EXPECT_EQ(missing_part({{"--servers=a:1,b:1", "--workers=a:2,b:2", "--http_port=2"},
                          {"--http_port=2: ", "meet at a:2", "in --workers"}}),
            "");
  EXPECT_EQ(job_with({"--servers=a:1", "--workers=b:2", "--http_port=2"}).servers->http_port, 2);
}

TEST(WithGloo, FollowsTheGenerationOfTheSpelling) {
  EXPECT_EQ(settings({}).with_gloo, "0");
  EXPECT_EQ(settings({"--http_port=8900"}).with_gloo, "0");
  EXPECT_EQ(settings({"--with_gloo=2"}).with_gloo, "2");
  EXPECT_EQ(settings({}, {{"PADDLE_WITH_GLOO", "1"}}).with_gloo, "1");
  EXPECT_EQ(settings({"--gloo_port=8900"}).with_gloo, "1");
  EXPECT_EQ(job_with({"--server_num=1", "--trainer_num=4"}).servers->with_gloo, "1");
  EXPECT_EQ(job_with({"--servers=a:1", "--trainers=a:2"}).servers->with_gloo, "1");
  EXPECT_EQ(job_with({"--server_num=1"}, {{"PADDLE_TRAINER_NUM", "2"}}).servers->with_gloo, "1");
  EXPECT_EQ(job_with({"--server_num=1", "--trainer_num=4"}, {{"PADDLE_WITH_GLOO", "0"}})
                .servers->with_gloo,
            "0");
}

TEST(ServerWait, TakesSecondsWithDecimals) {
  EXPECT_EQ(settings({}).server_wait, milliseconds(10'000));
  EXPECT_EQ(settings({"--server_wait=2.5"}).server_wait, milliseconds(2'500));
  EXPECT_EQ(settings({"--server_wait=0"}).server_wait, milliseconds(0));
  EXPECT_EQ(missing_part({and_numbers({"--server_wait=x"}), {"--server_wait=x is refused"}}), "");
}

TEST(LegacyEnv, IsOffUnlessAskedFor) {
  EXPECT_FALSE(settings({}).legacy_env);
  EXPECT_TRUE(settings({"--legacy_env"}).legacy_env);
}

TEST(ServerSettings, HaveNoEffectOnOtherJobs) {
  const ParsedCommandLine line = parsed({"--server_wait=3", "--legacy_env", "train.py"});
  EXPECT_EQ(line.job.mode, Mode::Collective);
  EXPECT_EQ(line.job.servers, std::nullopt);
  EXPECT_EQ(parsed({"--gloo_port=7000", "--with_gloo=1", "--nproc_per_node=2", "train.py"}).notices,
            (Words{"--gloo_port=7000 has no effect: the job has no parameter servers",
                   "--with_gloo=1 has no effect: the job has no parameter servers"}));
  EXPECT_EQ(line.notices, (Words{"--server_wait=3 has no effect: the job has no parameter servers",
                                 "--legacy_env has no effect: the job has no parameter servers"}));
}

TEST(Rpc, IsLikeACollectiveJob) {
  const JobSpec job = job_with({"--run_mode=rpc", "--ips=10.0.0.1,10.0.0.2", "--nproc_per_node=2"});
  EXPECT_EQ(job.mode, Mode::Rpc);
  EXPECT_EQ(job.ips, (Words{"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(job.nproc_per_node, 2);
  EXPECT_EQ(job.servers, std::nullopt);
  EXPECT_EQ(job_with({"--run_mode=rpc", "--master=10.0.0.1:6768", "--nnodes=2"}).nnodes, 2);
}

}  // namespace
}  // namespace paddle_launch
