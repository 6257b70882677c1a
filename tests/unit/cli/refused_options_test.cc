// SPDX-License-Identifier: Apache-2.0
// What never will be part of this launcher.
#include <gtest/gtest.h>

#include "launcher/cli/unused_options.h"
#include "tests/unit/cli/parsing.h"

namespace paddle_launch {
namespace {

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
