// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/nccl_env.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(IdsFor, OneForEach256RanksAndNeverNone) {
  EXPECT_EQ(ids_for(0), 1);
  EXPECT_EQ(ids_for(1), 1);
  EXPECT_EQ(ids_for(256), 1);
  EXPECT_EQ(ids_for(257), 2);
  EXPECT_EQ(ids_for(16384), 64);
}

TEST(IdsFor, TheLargestWorldStillFitsIntoOneVariable) {
  NcclIds most;
  most.ids.assign(static_cast<std::size_t>(ids_for(1'000'000)), std::string(kNcclIdBytes, 'x'));
  EXPECT_LT(nccl_variables(most).front().second.size(), 120U * 1024);
}

TEST(NcclVariables, IdsAreHexWithCommasBetweenThem) {
  const NcclIds ids{
      {std::string(kNcclIdBytes, '\xab'), std::string(kNcclIdBytes, '\x01')}, 22809, ""};
  std::string first;
  std::string second;
  for (std::size_t byte = 0; byte < kNcclIdBytes; ++byte) {
    first += "ab";
    second += "01";
  }
  EXPECT_EQ(nccl_variables(ids),
            (std::vector<EnvVar>{{"PADDLE_LAUNCH_NCCL_ID", first + "," + second},
                                 {"PADDLE_LAUNCH_NCCL_VERSION", "22809"}}));
}

TEST(NcclVariables, WithoutIdsThereAreNone) { EXPECT_TRUE(nccl_variables({}).empty()); }

}  // namespace
}  // namespace paddle_launch
