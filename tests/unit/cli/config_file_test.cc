// SPDX-License-Identifier: Apache-2.0
// --config FILE: what is typed beats a variable, which beats the file.
#include "launcher/cli/config_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

class ConfigFile : public testing::Test {
 protected:
  // The option for a file of this text.
  std::string with(const std::string& text) const {
    std::ofstream(path_) << text;
    return "--config=" + path_;
  }
  std::string error_of(const std::string& text) const { return usage_error_with({with(text)}); }

  TempFolder temp_;
  const std::string path_ = temp_.path() / "job.toml";
};

TEST_F(ConfigFile, HasOptionsAsTheyAreTyped) {
  const JobSpec job =
      job_with({with("# of all jobs\n"
                     "log_dir = \"my logs\"\n"
                     "nproc-per-node = 2\n"
                     "grace=2.5\n"
                     "quiet = true\n"
                     "assume_gpus = false\n"
                     "restart_on = [ \"SIGKILL\", \"lost_node\" ]\n"
                     "ips = 10.0.0.1,10.0.0.2\n")});
  EXPECT_EQ(job.log_dir, "my logs");
  EXPECT_EQ(job.nproc_per_node, 2);
  EXPECT_EQ(job.grace, std::chrono::milliseconds(2500));
  EXPECT_TRUE(job.quiet);
  EXPECT_FALSE(job.assume_cards);
  EXPECT_TRUE(job.restarts.on.lost_node);
  EXPECT_EQ(job.ips, (Words{"10.0.0.1", "10.0.0.2"}));
}

TEST_F(ConfigFile, IsBeatenByAVariableAndThatByWhatIsTyped) {
  const std::string file = with("log_dir = file\nlog_level = ERROR\nmax_restart = 1\n");
  const Environment env{{"PADDLE_LOG_DIR", "variable"}, {"PADDLE_LOG_LEVEL", "WARNING"}};
  const ParsedCommandLine line = parsed({file, "--log_dir=typed", "train.py"}, env);
  EXPECT_EQ(line.job.log_dir, "typed");
  EXPECT_EQ(line.job.log_level, LogLevel::Warning);
  EXPECT_EQ(line.job.restarts.most, 1);
  EXPECT_EQ(line.warnings.size(), 1U) << "PADDLE_LOG_DIR alone: to beat the file is no news";
}

TEST_F(ConfigFile, NamesNoCardsWhereOthersAreTypedOrInTheirVariable) {
  const std::string file = with("gpus = 0,1\n");
  EXPECT_EQ(job_with({file}).cards->list, "0,1");
  EXPECT_EQ(job_with({file, "--devices=4"}).cards->list, "4");
  EXPECT_EQ(job_with({file}, {{"PADDLE_DEVICES", "5"}}).cards->list, "5");
}

TEST_F(ConfigFile, IsNamedInErrors) {
  struct Row {
    std::string text;
    Words parts;
  };
  for (const Row& row :
       {Row{"log_dri = x\n", {path_, "--log_dri is not an option"}},
        {"nproc_per_node = many\n", {"--nproc_per_node=many in " + path_, "whole number"}},
        {"[paddle]\nlog_dir = x\n", {path_, "[paddle]", "without sections"}},
        {"help = true\n", {path_, "--help is typed"}},
        {"config = x\n", {path_, "--config is typed"}},
        {"stop = true\n", {path_, "--stop is typed"}},
        {"gpus = 0\nlog_dir = x\ngpus = 1\n", {"two values of one option"}},
        {"gpus = 0\nxpus = 1\n", {"--gpus=0 in " + path_, "leave out --xpus in " + path_}}}) {
    EXPECT_EQ(missing_part(error_of(row.text), row.parts), "");
  }
  expect_errors({{{"--config=" + temp_.path().string() + "/none"}, {"/none: it cannot be read"}},
                 {{"--config=" + temp_.path().string()}, {"it cannot be read"}}});
}

TEST_F(ConfigFile, NamesTheJobOfAnOrderToo) {
  const CommandLine line =
      command_line_of({"--status", with("elastic_server = e:2379\njob_id = j\nlog_dir = x\n")});
  EXPECT_EQ(std::get<JobOrder>(line).job_id, "j");
}

}  // namespace
}  // namespace paddle_launch
