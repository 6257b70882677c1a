// SPDX-License-Identifier: Apache-2.0
// Whole command lines and the jobs they make.
#include "launcher/cli/command_line.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

TEST(ParseCommandLine, HasTheDocumentedDefaults) {
  JobSpec expected;
  expected.script.name = "train.py";
  JobSpec job = job_of({"train.py"});
  job.arguments.clear();
  EXPECT_EQ(job, expected);
}

TEST(ParseCommandLine, TakesAValueAfterABlankOrAnEqualsSign) {
  EXPECT_EQ(job_of({"--log_dir", "out", "train.py"}), job_of({"--log_dir=out", "train.py"}));
}

TEST(ParseCommandLine, KeepsTheScriptAndItsArguments) {
  const JobSpec job =
      job_of({"--python=/opt/python3", "train.py", "--batch_size=64", "--gpus", "9"});
  EXPECT_EQ(job.script,
            (Script{"train.py", false, {"--batch_size=64", "--gpus", "9"}, "/opt/python3"}));
  EXPECT_EQ(job_of({"-m", "pkg.train", "x"}).script,
            (Script{"pkg.train", true, {"x"}, std::nullopt}));
}

struct CardRow {
  std::string option;
  std::optional<CardKind> kind;
};

TEST(ParseCommandLine, KnowsEachSpellingOfTheCards) {
  for (const CardRow& row : {CardRow{"--gpus", CardKind::Gpu},
                             {"--selected_gpus", CardKind::Gpu},
                             {"--xpus", CardKind::Xpu},
                             {"--selected_xpus", CardKind::Xpu},
                             {"--npus", CardKind::Npu},
                             {"--selected_npus", CardKind::Npu},
                             {"--mlus", CardKind::Mlu},
                             {"--selected_mlus", CardKind::Mlu},
                             {"--devices", std::nullopt}}) {
    EXPECT_EQ(job_with({row.option, "0,1"}).cards, (CardChoice{row.option, row.kind, "0,1"}));
  }
  EXPECT_EQ(job_of({"t.py"}, {{"PADDLE_DEVICES", "0"}}).cards,
            (CardChoice{"PADDLE_DEVICES", std::nullopt, "0"}));
}

TEST(ParseCommandLine, FillsTheRestOfTheJob) {
  const JobSpec job = job_with({"--nproc_per_node=2", "--backend=nccl", "--bind=numa", "--host=h1",
                                "--port_range=7000:8000", "--job_id=j", "--log_overwrite=yes",
                                "--log_level=warn", "--quiet", "--console=all", "--stdin=0",
                                "--grace=2.5", "--dry_run=json", "--assume_gpus", "--rank=0"});
  EXPECT_EQ(job.nproc_per_node, 2);
  EXPECT_EQ(job.backend, "nccl");
  EXPECT_EQ(job.bind, Binding::Numa);
  EXPECT_EQ(job.host, "h1");
  EXPECT_EQ(job.port_range, std::pair(7000, 8000));
  EXPECT_EQ(job.job_id, "j");
  EXPECT_TRUE(job.job_id_given);
  EXPECT_TRUE(job.log_overwrite);
  EXPECT_EQ(job.log_level, LogLevel::Warning);
  EXPECT_TRUE(job.quiet);
  EXPECT_EQ(job.console, ConsoleMode::All);
  EXPECT_TRUE(job.stdin_to_rank_zero);
  EXPECT_EQ(job.grace, milliseconds(2500));
  EXPECT_EQ(job.dry_run, DryRun::Json);
  EXPECT_TRUE(job.assume_cards);
}

TEST(ParseCommandLine, RemembersWhetherAJobIdWasGiven) {
  EXPECT_FALSE(job_of({"train.py"}).job_id_given);
  EXPECT_TRUE(job_with({"--job_id=default"}).job_id_given);
  EXPECT_TRUE(job_of({"train.py"}, {{"PADDLE_JOB_ID", "j"}}).job_id_given);
}

TEST(ParseCommandLine, NamesTheSourceOfTheStartPort) {
  EXPECT_EQ(job_with({"--start_port=6170"}).start_port_source, "--start_port");
  const JobSpec job = job_of({"train.py"}, {{"FLAGS_START_PORT", "6171"}});
  EXPECT_EQ(job.start_port, 6171);
  EXPECT_EQ(job.start_port_source, "FLAGS_START_PORT");
}

TEST(ParseCommandLine, KnowsTheConsolesAndDryRuns) {
  EXPECT_EQ(job_with({"--console=0"}).console, ConsoleMode::RankZero);
  EXPECT_EQ(job_with({"--console=rank0"}).console, ConsoleMode::RankZero);
  EXPECT_EQ(job_with({"--console=none"}).console, ConsoleMode::None);
  EXPECT_EQ(job_with({"--dry_run"}).dry_run, DryRun::Text);
  EXPECT_EQ(job_with({"--dry_run=text"}).dry_run, DryRun::Text);
  EXPECT_EQ(job_with({"--log_level=10"}).log_level, LogLevel::Debug);
  EXPECT_EQ(job_with({"--log_level=CRITICAL"}).log_level, LogLevel::Error);
}

TEST(ParseCommandLine, LeavesCpuForTheCardsAsTyped) {
  EXPECT_EQ(job_with({"--devices=cpu", "--backend=gloo"}).cards->list, "cpu");
  EXPECT_EQ(job_with({"--gpus=cpu"}).cards->list, "cpu");
}

TEST(ParseCommandLine, TakesEachBackend) {
  for (const char* const name :
       {"auto", "nccl", "gloo", "bkcl", "hccl", "cncl", "xccl", "heter", "flagcx"}) {
    EXPECT_EQ(job_with({"--backend", name}).backend, name);
  }
}

TEST(ParseCommandLine, CountsARepeatedOptionAsGivenLast) {
  const ParsedCommandLine line = parsed({"--gpus=0", "--gpus=1", "--quiet", "--quiet", "train.py"});
  EXPECT_EQ(line.job.cards->list, "1");
  ASSERT_EQ(line.warnings.size(), 1U);
  EXPECT_NE(line.warnings[0].find("--gpus was given 2 times"), std::string::npos);
}

TEST(ParseCommandLine, TakesBracketsAndBracesAsTheyAre) {
  EXPECT_EQ(job_with({"--job_id=[a,b]"}).job_id, "[a,b]");
  EXPECT_EQ(job_with({"--job_id={}"}).job_id, "{}");
}

TEST(ParseCommandLine, RefusesBadValuesByName) {
  for (const ErrorRow& row :
       {ErrorRow{{"--nproc_per_node=x"}, {"--nproc_per_node=x", "from 1 to 4096"}},
        {{"--nproc_per_node=0"}, {"--nproc_per_node=0", "from 1 to 4096"}},
        {{"--start_port=65536"}, {"--start_port=65536", "from 1 to 65535"}},
        {{"--http_port=0"}, {"--http_port=0", "from 1 to 65535"}},
        {{"--rank=-2"}, {"--rank=-2", "from -1 to"}},
        {{"--nnodes=two"}, {"--nnodes=two", "MIN:MAX"}},
        {{"--np=0"}, {"--np=0", "MIN:MAX"}},
        {{"--backend=mpi"},
         {"--backend=mpi", "auto, nccl, gloo, bkcl, hccl, cncl, xccl, heter or flagcx"}},
        {{"--legacy=maybe"}, {"--legacy=maybe", "true"}},
        {{"--force=2"}, {"--force=2", "true"}},
        {{"--sort_ip=x"}, {"--sort_ip=x", "true"}},
        {{"--stdin=1"}, {"--stdin=1", "it takes 0 only"}},
        {{"--console=1"}, {"--console=1", "rank0"}},
        {{"--dry_run=yaml"}, {"--dry_run=yaml", "text or json"}},
        {{"--grace=-1"}, {"--grace=-1", "from 0 to 86400"}},
        {{"--bind=core"}, {"--bind=core", "none or numa"}},
        {{"--ips=::1"}, {"--ips=::1", "IPv6"}},
        {{"--gpus="}, {"--gpus=", "not empty"}},
        {{"--log_dir="}, {"--log_dir=", "not empty"}},
        {{"--server_num="}, {"--server_num=", "whole number"}}}) {
    const std::string text = usage_error_with(row.options);
    for (const std::string& part : row.parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(ParseCommandLine, RefusesContradictionsByBothNames) {
  for (const ErrorRow& row :
       {ErrorRow{{"--gpus=0", "--xpus=1"}, {"--gpus=0", "--xpus=1"}},
        {{"--gpus=0", "--devices=0"}, {"--gpus=0", "--devices=0"}},
        {{"--gpus=0", "--selected_gpus=0"}, {"--gpus=0", "--selected_gpus=0"}},
        {{"--backend=gloo", "--gpus=0"}, {"--backend=gloo", "--gpus=0"}},
        {{"--start_port=6170", "--port_range=7000:8000"},
         {"--start_port=6170", "--port_range=7000:8000"}}}) {
    const std::string text = usage_error_with(row.options);
    for (const std::string& part : row.parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
    EXPECT_NE(text.find("leave out"), std::string::npos) << text;
  }
}

TEST(ParseCommandLine, RefusesARankBeyondTheOneNode) {
  EXPECT_NE(usage_error_with({"--rank=1"}).find("a job of 1 node"), std::string::npos);
  EXPECT_EQ(usage_error_of({"train.py"}, {{"PADDLE_RANK", "3"}}).find("PADDLE_RANK=3"), 0U);
  EXPECT_EQ(job_with({"--rank", "-1"}).script.name, "train.py");
}

TEST(ParseCommandLine, DoesNotReadPaddleTrainerId) {
  EXPECT_EQ(job_of({"train.py"}, {{"PADDLE_TRAINER_ID", "3"}}), job_of({"train.py"}));
}

TEST(ParseCommandLine, RefusesAMissingScriptWithTheUsageLine) {
  for (const Words& words : {Words{}, Words{"--gpus=0"}, Words{"--"}}) {
    const std::string text = usage_error_of(words);
    EXPECT_EQ(text.find("training_script is missing"), 0U) << text;
    EXPECT_NE(text.find("usage: paddle-launch [options] training_script"), std::string::npos)
        << text;
  }
}

struct NoticeRow {
  Words options;
  std::string notice;  // empty: none
};

TEST(WithoutEffect, TellsOfOptionsThatDoNothingHere) {
  for (const NoticeRow& row : {NoticeRow{{"--legacy", "1"}, "only one launcher"},
                               {{"--legacy=true"}, "only one launcher"},
                               {{"--legacy=false"}, ""},
                               {{"--enable_gpu_log=true"}, ""},
                               {{"--enable_gpu_log=false"}, ""},
                               {{"--master=10.0.0.1:6768"}, "one node needs no --master"},
                               {{"--sort_ip=true"}, "nothing to sort"},
                               {{"--sort_ip=false"}, ""},
                               {{"--elastic_timeout=60"}, "--elastic_server"},
                               {{"--elastic_settle=1"}, "--elastic_server"},
                               {{"--elastic_ttl=5"}, "--elastic_server"},
                               {{"--elastic_pre_hook=ls"}, "--elastic_server"},
                               {{"--force=True"}, "--elastic_server"},
                               {{"--force=False"}, ""},
                               {{"--scale=0"}, ""},
                               {{"--elastic_level=-1"}, ""},
                               {{"--elastic_level=0", "--max_restart=1"}, "--elastic_server"},
                               {{"--elastic_level=1"}, "--elastic_server"},
                               {{"--elastic_level=1", "--max_restart=1"}, ""},
                               {{"--restart_on=code"}, "--max_restart"},
                               {{"--restart_on=code", "--max_restart=1"}, ""},
                               {{"--restart_pause=0"}, "--max_restart"},
                               {{"--restart_pause=0", "--max_restart=0"}, "--max_restart"},
                               {{"--restart_pause=0", "--max_restart=1"}, ""},
                               {{"--rank=0"}, ""}}) {
    Words words = row.options;
    words.emplace_back("train.py");
    const ParsedCommandLine line = parsed(words);
    ASSERT_EQ(line.notices.size(), row.notice.empty() ? 0U : 1U) << words[0];
    if (row.notice.empty()) continue;
    EXPECT_NE(line.notices[0].find(row.notice), std::string::npos) << line.notices[0];
  }
  EXPECT_EQ(parsed({"t.py"}, {{"PADDLE_MASTER", "a:1"}}).notices,
            Words{"PADDLE_MASTER=a:1 has no effect: one node needs no --master"});
}

TEST(MakeToken, IsAskedForWithoutAJob) {
  EXPECT_EQ(std::get<MakeToken>(command_line_of({"--make_token"})).file, std::nullopt);
  EXPECT_EQ(std::get<MakeToken>(command_line_of({"--token_file=x", "--make-token"})).file, "x");
  const Environment nodes{{"PADDLE_NNODES", "2"}};
  EXPECT_EQ(std::get<MakeToken>(command_line_of({"--make_token"}, nodes)).file, std::nullopt);
  EXPECT_NE(usage_error_of({"--make_token", "train.py"}).find("leave out train.py"),
            std::string::npos);
  EXPECT_NE(usage_error_of({"--make_token", "--ips=a,b"}).find("leave out --ips"),
            std::string::npos);
}

}  // namespace
}  // namespace paddle_launch
