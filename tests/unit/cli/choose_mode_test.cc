// SPDX-License-Identifier: Apache-2.0
// Options decide the mode; options of two modes are refused by name.
#include "launcher/cli/choose_mode.h"

#include <gtest/gtest.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/typed_line.h"
#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

Mode mode_of(Words options, const Environment& env = {}) {
  options.insert(options.begin(), "paddle-launch");
  Remarks remarks;
  GivenOptions given = accept_typed(read_typed_line(options).options, remarks.warnings);
  add_environment_defaults(env, given, remarks);
  return choose_mode(given).mode;
}

struct Row {
  Words options;
  Mode mode;
};

TEST(ChooseMode, FollowsTheOptions) {
  for (const Row& row :
       {Row{{}, Mode::Collective},
        {{"--ips", "10.0.0.1"}, Mode::Collective},
        {{"--run_mode", "collective"}, Mode::Collective},
        {{"--run_mode", "ps"}, Mode::ParameterServer},
        {{"--run_mode", "ps-heter"}, Mode::ParameterServerHeter},
        {{"--run_mode", "rpc"}, Mode::Rpc},
        {{"--run_mode", "rpc", "--nproc_per_node", "2"}, Mode::Rpc},
        {{"--servers", "a:1"}, Mode::ParameterServer},
        {{"--workers", "a:1"}, Mode::ParameterServer},
        {{"--trainers", "a:1"}, Mode::ParameterServer},
        {{"--server_num", "1"}, Mode::ParameterServer},
        {{"--worker_num", "1"}, Mode::ParameterServer},
        {{"--trainer_num", "1"}, Mode::ParameterServer},
        {{"--http_port", "8900"}, Mode::ParameterServer},
        {{"--gloo_port", "8900"}, Mode::Collective},
        {{"--with_gloo", "1", "--nproc_per_node", "2"}, Mode::Collective},
        {{"--with_gloo", "1", "--run_mode", "collective"}, Mode::Collective},
        {{"--heter_workers", "a:1"}, Mode::ParameterServerHeter},
        {{"--heter_worker_num", "1;2"}, Mode::ParameterServerHeter},
        {{"--heter_devices", "gpu"}, Mode::ParameterServerHeter},
        {{"--server_num", "1", "--heter_devices", "gpu"}, Mode::ParameterServerHeter},
        {{"--server_num", "1", "--gpus", "0,1"}, Mode::ParameterServer},
        {{"--run_mode", "ps-heter", "--server_num", "1"}, Mode::ParameterServerHeter},
        {{"--server_num", "1", "--backend", "auto"}, Mode::ParameterServer},
        {{"--servers", "", "--workers", "", "--heter_workers", ""}, Mode::Collective}}) {
    EXPECT_EQ(mode_of(row.options), row.mode) << ::testing::PrintToString(row.options);
  }
}

TEST(ChooseMode, FollowsTheVariablesThatStandForOptions) {
  EXPECT_EQ(mode_of({}, {{"PADDLE_RUN_MODE", "ps"}}), Mode::ParameterServer);
  EXPECT_EQ(mode_of({}, {{"PADDLE_SERVER_NUM", "1"}}), Mode::ParameterServer);
  EXPECT_EQ(mode_of({}, {{"PADDLE_TRAINERS_ENDPOINTS", "a:1"}}), Mode::ParameterServer);
}

TEST(ChooseMode, IsNotMovedByGloosVariables) {
  const Environment env = {{"PADDLE_WITH_GLOO", "1"}, {"PADDLE_GLOO_PORT", "6767"}};
  EXPECT_EQ(mode_of({}, env), Mode::Collective);
  EXPECT_EQ(mode_of({"--run_mode", "collective"}, env), Mode::Collective);
}

TEST(ChooseMode, IsNotMovedByTheScriptsArguments) {
  EXPECT_EQ(job_of({"train.py", "--worker_num", "4", "--servers=x"}).mode, Mode::Collective);
}

struct Conflict {
  Words options;
  std::string one;
  std::string other;
};

TEST(ChooseMode, RefusesOptionsOfTwoModesByName) {
  for (const Conflict& row :
       {Conflict{{"--ips=10.0.0.1", "--server_num=1"}, "--ips=10.0.0.1", "--server_num=1"},
        {{"--nproc_per_node=2", "--workers=a:1"}, "--nproc_per_node=2", "--workers=a:1"},
        {{"--nproc_per_node=2", "--heter_devices=gpu"},
         "--nproc_per_node=2",
         "--heter_devices=gpu"},
        {{"--ips=10.0.0.1", "--run_mode=ps"}, "--ips=10.0.0.1", "--run_mode=ps"},
        {{"--nproc_per_node=2", "--run_mode=ps-heter"},
         "--nproc_per_node=2",
         "--run_mode=ps-heter"},
        {{"--run_mode=collective", "--server_num=1"}, "--run_mode=collective", "--server_num=1"},
        {{"--run_mode=rpc", "--servers=a:1"}, "--run_mode=rpc", "--servers=a:1"},
        {{"--run_mode=ps", "--heter_workers=a:1"}, "--run_mode=ps", "--heter_workers=a:1"},
        {{"--run_mode=ps", "--backend=gloo"}, "--run_mode=ps", "--backend=gloo"},
        {{"--worker_num=1", "--backend=nccl"}, "--worker_num=1", "--backend=nccl"}}) {
    const std::string text = usage_error_with(row.options);
    EXPECT_NE(text.find("contradict each other"), std::string::npos) << text;
    EXPECT_NE(text.find(row.one), std::string::npos) << text;
    EXPECT_NE(text.find(row.other), std::string::npos) << text;
  }
}

TEST(ChooseMode, NamesTheVariableThatContradicts) {
  const std::string text = usage_error_with({"--server_num=1"}, {{"PADDLE_NPROC_PER_NODE", "2"}});
  EXPECT_NE(text.find("PADDLE_NPROC_PER_NODE=2"), std::string::npos) << text;
  EXPECT_NE(text.find("unset PADDLE_NPROC_PER_NODE"), std::string::npos) << text;
}

TEST(ChooseMode, ListsTheModesForAnUnknownOne) {
  EXPECT_NE(usage_error_with({"--run_mode=parallel"}).find("collective, ps, ps-heter or rpc"),
            std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
