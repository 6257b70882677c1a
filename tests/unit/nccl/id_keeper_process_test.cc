// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/id_keeper_process.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(IdKeeperProcess, AnOrderComesOutAsItWentIn) {
  const auto order = unpack_order(pack_order({3, "eth0"}));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->count, 3);
  EXPECT_EQ(order->interface_name, "eth0");
  EXPECT_EQ(unpack_order(pack_order({1, ""}))->interface_name, "");
  EXPECT_FALSE(unpack_order("eth0"));
  EXPECT_FALSE(unpack_order("-1\neth0"));
}

TEST(IdKeeperProcess, IdsMayHaveAnyByteInThem) {
  const NcclIds ids{{std::string(kNcclIdBytes, '\n'), std::string(kNcclIdBytes, '\0')},
                    22809,
                    "/opt/a b/libnccl.so.2"};
  EXPECT_EQ(unpack_ids(pack_ids(ids)), ids);
  EXPECT_FALSE(unpack_ids(pack_ids(ids) + "x"));
  EXPECT_FALSE(unpack_ids(pack_ids({{}, 22809, "library"})));
  EXPECT_FALSE(unpack_ids("22809"));
}

}  // namespace
}  // namespace paddle_launch
