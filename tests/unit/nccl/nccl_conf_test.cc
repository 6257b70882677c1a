// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/nccl/libnccl.h"
#include "tests/unit/site/fake_root.h"

namespace paddle_launch {
namespace {

TEST(NcclConfFiles, TheNamedFileTakesThePlaceOfTheUsersOwn) {
  const auto named = nccl_conf_files({{"NCCL_CONF_FILE", "/site/nccl.conf"}});
  EXPECT_EQ(named, (std::vector<std::string>{"/site/nccl.conf", "/etc/nccl.conf"}));
  const auto usual = nccl_conf_files({{"NCCL_CONF_FILE", ""}});
  ASSERT_EQ(usual.size(), 2U);
  EXPECT_TRUE(usual.front().ends_with("/.nccl.conf"));
}

TEST(ConfSets, LinesAreReadAsNcclReadsThem) {
  const FakeRoot root;
  root.write("nccl.conf", "#NCCL_IB_HCA=mlx5\nNCCL_SOCKET_IFNAME=eth0\nNCCL_DEBUG\n");
  const std::vector<std::string> files = {root.path() + "/none", root.path() + "/nccl.conf"};
  EXPECT_TRUE(conf_sets(files, "NCCL_SOCKET_IFNAME"));
  EXPECT_FALSE(conf_sets(files, "NCCL_IB_HCA"));
  EXPECT_FALSE(conf_sets(files, "NCCL_DEBUG"));
  EXPECT_FALSE(conf_sets({}, "NCCL_SOCKET_IFNAME"));
}

}  // namespace
}  // namespace paddle_launch
