// SPDX-License-Identifier: Apache-2.0
// What shells offer after an option, and that it is accepted.
#include <gtest/gtest.h>

#include "launcher/cli/option_table.h"
#include "launcher/cli/value_rule.h"

namespace paddle_launch {
namespace {

using Words = std::vector<std::string>;

Words offered_after(std::string_view name) { return words_of(find_option(name)->rule); }

TEST(WordsOf, AreAllThatAShortListHas) {
  EXPECT_EQ(offered_after("--run_mode"), (Words{"collective", "ps", "ps-heter", "rpc"}));
  EXPECT_EQ(offered_after("--console"), (Words{"rank0", "all", "none", "direct", "0"}));
  EXPECT_EQ(offered_after("--log_level"), (Words{"DEBUG", "INFO", "WARNING", "ERROR"}));
  EXPECT_EQ(offered_after("--sort_ip"), (Words{"true", "false"}));
  EXPECT_EQ(offered_after("--with_gloo"), (Words{"0", "1", "2", "3"}));
  EXPECT_EQ(offered_after("--elastic_level"), (Words{"-1", "0", "1"}));
  EXPECT_EQ(offered_after("--heter_devices"), (Words{"cpu", "gpu", "xpu"}));
}

TEST(WordsOf, AreTheKnownOnesWhereOthersAreTakenToo) {
  EXPECT_EQ(offered_after("--bootstrap"), (Words{"auto", "solo", "tcp", "mpi", "pmix"}));
  EXPECT_EQ(offered_after("--restart_on"), (Words{"any", "code", "signal", "lost_node"}));
}

TEST(WordsOf, LeaveOutWhatTheOptionMeansAlone) {
  EXPECT_EQ(offered_after("--status"), Words{"json"});
  EXPECT_EQ(offered_after("--help"), Words{"all"});
}

TEST(WordsOf, AreNoneWhereThereIsNoList) {
  for (const char* const name : {"--gpus", "--quiet", "--grace", "--heartbeat", "--ips", "-m"}) {
    EXPECT_EQ(offered_after(name), Words()) << name;
  }
}

TEST(WordsOf, AreAccepted) {
  int words = 0;
  for (const Option& option : all_options()) {
    for (const std::string& word : words_of(option.rule)) {
      EXPECT_EQ(read_value(option.rule, word).problem, "") << option.names << " " << word;
      ++words;
    }
  }
  EXPECT_GT(words, 50);
}

}  // namespace
}  // namespace paddle_launch
