// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

using Cpus = std::vector<int>;

TEST(ParseCpuList, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(parse_cpu_list("0-3,8-9,12\n"), (Cpus{0, 1, 2, 3, 8, 9, 12}));
  EXPECT_EQ(parse_cpu_list("5"), Cpus{5});
  EXPECT_EQ(parse_cpu_list("\n"), Cpus{});
}

TEST(ParseCpuList, RefusesWhatIsNoList) {
  for (const char* text : {"x", "1-", "3-1", "1,,2", "-1", "1 2", "0-99999999999", "0-9999999"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(FormatCpuList, NamesEachOnce) {
  EXPECT_EQ(format_cpu_list({9, 0, 1, 2, 8, 1, 12}), "0-2,8-9,12");
  EXPECT_EQ(format_cpu_list({}), "");
}

}  // namespace
}  // namespace paddle_launch
