// SPDX-License-Identifier: Apache-2.0
// What is understood and not done yet, and what never will be.
#include "launcher/cli/not_built_yet.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

TEST(NotBuiltYet, RefusesOptionsByName) {
  for (const char* const option :
       {"--nnodes=1:2", "--nnodes=2:4", "--master=etcd://10.0.0.1:2379",
        "--elastic_server=10.0.0.1:2379", "--np=1", "--np=2:4", "--scale=1", "--scale=-1",
        "--force=True", "--elastic_pre_hook=ls", "--elastic_level=1", "--elastic_level=0",
        "--max_restart=3"}) {
    const std::string text = usage_error_with({option});
    EXPECT_EQ(text.find(std::string(option) + ": "), 0U) << text;
    EXPECT_NE(text.find("not built yet in this version; "), std::string::npos) << text;
  }
}

TEST(NotBuiltYet, RefusesAnElasticJobWhoeverNamesItsNodes) {
  EXPECT_EQ(usage_error_with({"--master=etcd://10.0.0.1:2379", "--nnodes=2"}).find("--master="),
            0U);
  EXPECT_EQ(usage_error_with({"--ips=10.0.0.1,10.0.0.2", "--nnodes=2:4"}).find("--nnodes=2:4: e"),
            0U);
}

TEST(NotBuiltYet, RefusesVariablesByName) {
  for (const Environment& env :
       {Environment{{"PADDLE_NNODES", "2:4"}}, Environment{{"PADDLE_MAX_RESTART", "3"}},
        Environment{{"PADDLE_MASTER", "etcd://a:1"}}, Environment{{"PADDLE_ELASTIC_SERVER", "a:1"}},
        Environment{{"PADDLE_ELASTIC_NP", "2"}}}) {
    const std::string text = usage_error_of({"train.py"}, env);
    const auto& [name, value] = *env.begin();
    EXPECT_EQ(text.find(name + "=" + value), 0U) << text;
    EXPECT_NE(text.find("not built yet"), std::string::npos) << text;
    EXPECT_NE(text.find(name, name.size()), std::string::npos) << "no remedy: " << text;
  }
}

TEST(NotBuiltYet, LetsOneNodePass) {
  EXPECT_EQ(job_with({"--ips=10.0.0.1", "--nnodes=1", "--scale=0", "--force=0",
                      "--elastic_level=-1", "--max_restart=0"})
                .ips,
            std::vector<std::string>{"10.0.0.1"});
  EXPECT_EQ(job_with({"--nnodes=1:1"}).mode, Mode::Collective);
}

TEST(RefuseForGood, NamesPaddlesOwnLauncher) {
  for (const char* const option :
       {"--auto_tuner_json=x", "--auto_parallel_config=x", "--auto_cluster_config=1",
        "--cluster_topo_path=x", "--rank_mapping_path=x", "--enable_auto_mapping=true",
        "--coordinators=a:1", "--coordinator_num=1"}) {
    const std::string text = usage_error_with({option});
    EXPECT_NE(text.find("python -m paddle.distributed.launch"), std::string::npos) << text;
    EXPECT_NE(text.find("will not be"), std::string::npos) << text;
  }
}

TEST(RefuseForGood, LetsTheHarmlessValuesPass) {
  EXPECT_EQ(
      job_with({"--auto_cluster_config=0", "--enable_auto_mapping=false", "--coordinators="}).mode,
      Mode::Collective);
}

}  // namespace
}  // namespace paddle_launch
