// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/meeting_child.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(UnpackList, IsTheReverseOfPackList) {
  const std::vector<std::string> list = {"", "one", std::string(70'000, 'x')};
  EXPECT_EQ(unpack_list(pack_list(list)), list);
  EXPECT_EQ(unpack_list(pack_list({})), std::vector<std::string>{});
}

TEST(UnpackList, RefusesWhatIsCutOff) {
  const std::string packed = pack_list({"one", "two"});
  EXPECT_EQ(unpack_list(packed.substr(0, packed.size() - 1)), std::nullopt);
  EXPECT_EQ(unpack_list(packed + "x"), std::nullopt);
}

}  // namespace
}  // namespace paddle_launch
