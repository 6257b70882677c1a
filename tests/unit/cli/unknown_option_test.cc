// SPDX-License-Identifier: Apache-2.0
// What is suggested for an option that does not exist.
#include <gtest/gtest.h>

#include "launcher/cli/typed_line.h"
#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

struct Row {
  std::string typed;
  std::string suggested;
};

TEST(UnknownOption, SuggestsTheNearestOne) {
  for (const Row& row : {Row{"--gpsu", "--gpus?"},
                         {"-gpus", "--gpus?"},
                         {"--logdir", "--log_dir?"},
                         {"--log-dri=x", "--log_dir?"},
                         {"--nproc_per_nodes=2", "--nproc_per_node?"},
                         {"--nprocs_per_node", "--nproc_per_node?"},
                         {"--LOG_DIR", "--help"}}) {
    const std::string text = usage_error_of({row.typed, "train.py"});
    EXPECT_NE(text.find(row.suggested), std::string::npos) << text;
    EXPECT_NE(text.find("--help"), std::string::npos) << text;
  }
}

TEST(UnknownOption, NamesWhatAnAbbreviationCouldMean) {
  const std::string text = unknown_option_text("--serv");
  EXPECT_NE(text.find("begin one option of Paddle's alone"), std::string::npos) << text;
  EXPECT_NE(text.find("--servers or --server_num"), std::string::npos) << text;
  EXPECT_NE(unknown_option_text("--dry").find("--dry_run?"), std::string::npos);
}

TEST(UnknownOption, NamesTheModernSpellingOfPaddleOnePointEight) {
  for (const Row& row : {Row{"--cluster_node_ips=127.0.0.1", "--ips"},
                         {"--node_ip=127.0.0.1", "--host"},
                         {"--started_port=6170", "--start_port"},
                         {"--use_paddlecloud", "leave it out"},
                         {"--print_config", "--quiet"}}) {
    const std::string text = usage_error_of({row.typed, "train.py"});
    EXPECT_NE(text.find("Paddle 1.8"), std::string::npos) << text;
    EXPECT_NE(text.find(row.suggested), std::string::npos) << text;
  }
}

TEST(UnknownOption, SuggestsNothingForAWordFromElsewhere) {
  EXPECT_EQ(unknown_option_text("--learning_rate").find("did you mean"), std::string::npos);
  EXPECT_NE(unknown_option_text("--learning_rate").find("after the script"), std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
