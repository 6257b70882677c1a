// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/channel/message.h"

namespace paddle_launch {
namespace {

const JobPayload kPayload{
    .log_name = "20220817-130502-train",
    .nccl = {.ids = {std::string(kNcclIdBytes, '\xff'), std::string(kNcclIdBytes, '\0')},
             .version = 22809,
             .library = "/usr/lib/libnccl.so.2"}};

TEST(Payload, ComesBackAsItWas) {
  EXPECT_EQ(unpack_payload(pack_payload(kPayload)), kPayload);
  const JobPayload only_logs{.log_name = "20220817-130502-train"};
  EXPECT_EQ(unpack_payload(pack_payload(only_logs)), only_logs);
}

TEST(Payload, TakesNoByteWhereThereIsNothing) {
  EXPECT_EQ(pack_payload({}), "");
  EXPECT_EQ(unpack_payload(""), JobPayload{});
}

TEST(Payload, IsNothingWhereItIsCutOrTooLong) {
  const std::string bytes = pack_payload(kPayload);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(unpack_payload(bytes.substr(0, size)), JobPayload{}) << size;
  }
  EXPECT_EQ(unpack_payload(bytes + "x"), JobPayload{});
}

}  // namespace
}  // namespace paddle_launch
