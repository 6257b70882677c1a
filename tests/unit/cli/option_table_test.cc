// SPDX-License-Identifier: Apache-2.0
// The table is whole and free of contradictions.
#include "launcher/cli/option_table.h"

#include <set>
#include <variant>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(OptionTable, HasEveryDocumentedOption) {
  for (const char* const name : {"--log_dir",
                                 "--backend",
                                 "--nproc_per_node",
                                 "--run_mode",
                                 "--gpus",
                                 "--selected_gpus",
                                 "--xpus",
                                 "--selected_xpus",
                                 "--npus",
                                 "--selected_npus",
                                 "--mlus",
                                 "--selected_mlus",
                                 "--devices",
                                 "--master",
                                 "--legacy",
                                 "--rank",
                                 "--log_level",
                                 "--log_overwrite",
                                 "--sort_ip",
                                 "--enable_gpu_log",
                                 "--nnodes",
                                 "--job_id",
                                 "--host",
                                 "--start_port",
                                 "-m",
                                 "--ips",
                                 "--cluster_topo_path",
                                 "--rank_mapping_path",
                                 "--enable_auto_mapping",
                                 "--auto_parallel_config",
                                 "--auto_cluster_config",
                                 "--auto_tuner_json",
                                 "--servers",
                                 "--workers",
                                 "--heter_workers",
                                 "--heter_devices",
                                 "--worker_num",
                                 "--server_num",
                                 "--heter_worker_num",
                                 "--http_port",
                                 "--trainers",
                                 "--trainer_num",
                                 "--gloo_port",
                                 "--with_gloo",
                                 "--coordinators",
                                 "--coordinator_num",
                                 "--server_wait",
                                 "--legacy_env",
                                 "--elastic_server",
                                 "--np",
                                 "--scale",
                                 "--force",
                                 "--elastic_pre_hook",
                                 "--max_restart",
                                 "--elastic_level",
                                 "--elastic_timeout",
                                 "--elastic_settle",
                                 "--elastic_ttl",
                                 "--restart_pause",
                                 "--restart_on",
                                 "--etcd_user",
                                 "--etcd_cacert",
                                 "--etcd_cert",
                                 "--etcd_key",
                                 "--status",
                                 "--stop",
                                 "--python",
                                 "--assume_gpus",
                                 "--bind",
                                 "--omp",
                                 "--proxy",
                                 "--log_names",
                                 "--config",
                                 "--make_token",
                                 "--port_range",
                                 "--nccl_lib",
                                 "--nccl_ids",
                                 "--store_door",
                                 "--bootstrap",
                                 "--bootstrap_port",
                                 "--bootstrap_timeout",
                                 "--heartbeat",
                                 "--token_file",
                                 "--check",
                                 "--console",
                                 "--quiet",
                                 "--stdin",
                                 "--grace",
                                 "--dry_run",
                                 "--version",
                                 "-h",
                                 "--help"}) {
    EXPECT_NE(find_option(name), nullptr) << name;
  }
}

TEST(IsPaddles, IsFalseForOurs) {
  for (const char* const name : {"--gpus", "--np", "--scale", "--elastic_timeout", "--help"}) {
    EXPECT_TRUE(is_paddles(*find_option(name))) << name;
  }
  for (const char* const name : {"--console", "--restart_on", "--stop", "-m", "--version"}) {
    EXPECT_FALSE(is_paddles(*find_option(name))) << name;
  }
}

TEST(OptionTable, NamesEachSpellingAndEachVariableOnce) {
  std::set<std::string_view> seen;
  for (const Option& option : all_options()) {
    for (const std::string_view name : names_of(option)) {
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
    for (const std::string_view variable : variables_of(option)) {
      EXPECT_TRUE(seen.insert(variable).second) << variable;
    }
    EXPECT_FALSE(option.help.empty()) << option.names;
  }
}

TEST(OptionTable, GivesAMetavarToEachOptionThatTakesAValue) {
  for (const Option& option : all_options()) {
    const bool alone = value_when_bare(option).has_value();
    if (std::holds_alternative<ActsAtOnce>(option.rule)) continue;
    EXPECT_EQ(option.metavar.empty(), alone) << option.names;
  }
}

TEST(SummaryOf, IsTheFirstSentence) {
  EXPECT_EQ(summary_of(*find_option("--version")), "Show the version and exit");
  EXPECT_EQ(summary_of(*find_option("--log_dir")),
            "Directory of workerlog.<rank> and endpoints.log");
  EXPECT_EQ(summary_of(*find_option("--nproc_per_node")), "Trainers on each node");
}

TEST(WordsAfterEquals, AreThoseOfOptionsThatStandAlone) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_after_equals(*find_option("--help")), Words{"all"});
  EXPECT_EQ(words_after_equals(*find_option("--dry_run")), Words{"json"});
  EXPECT_EQ(words_after_equals(*find_option("--quiet")), Words());
  EXPECT_EQ(words_after_equals(*find_option("--console")), Words());
}

TEST(FindOption, TakesNoAbbreviation) {
  EXPECT_EQ(find_option("--gpu"), nullptr);
  EXPECT_EQ(find_option("gpus"), nullptr);
  EXPECT_EQ(find_option("--gpus,--selected_gpus"), nullptr);
  EXPECT_EQ(find_option(""), nullptr);
}

TEST(KeyOf, IsTheFirstSpellingWithoutItsDashes) {
  EXPECT_EQ(key_of(*find_option("--selected_gpus")), "gpus");
}

}  // namespace
}  // namespace paddle_launch
