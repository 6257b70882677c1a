// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/banner.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(ArgumentBanner, HasTheLayoutOfTheDocument) {
  EXPECT_EQ(argument_banner({{"workers", ""}, {"gpus", "0,1,2,3"}, {"worker_num", "None"}}),
            "-----------  Configuration Arguments -----------\n"
            "gpus: 0,1,2,3\n"
            "worker_num: None\n"
            "workers:\n"
            "------------------------------------------------\n");
}

TEST(EnvironmentTable, HasTheLayoutOfTheDocument) {
  EXPECT_EQ(
      environment_table({{"PADDLE_TRAINERS_NUM", "4"},
                         {"PADDLE_CURRENT_ENDPOINT", "127.0.0.1:33360"},
                         {"PADDLE_TRAINER_ENDPOINTS",
                          "127.0.0.1:33360,127.0.0.1:11330,127.0.0.1:54803,127.0.0.1:49294"}}),
      "=======================================================================================\n"
      "            Distributed Envs              Value\n"
      "---------------------------------------------------------------------------------------\n"
      "PADDLE_CURRENT_ENDPOINT                   127.0.0.1:33360\n"
      "PADDLE_TRAINERS_NUM                       4\n"
      "PADDLE_TRAINER_ENDPOINTS                  ... 0.1:11330,127.0.0.1:54803,127.0.0.1:49294\n"
      "=======================================================================================\n");
}

TEST(EnvironmentTable, CutsFromFortyFiveCharactersOn) {
  EXPECT_NE(environment_table({{"A", std::string(44, 'x')}}).find(std::string(44, 'x')),
            std::string::npos);
  EXPECT_NE(
      environment_table({{"A", std::string(45, 'x')}}).find("... " + std::string(41, 'x') + "\n"),
      std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
