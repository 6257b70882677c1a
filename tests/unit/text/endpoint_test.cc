// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

TEST(HostOf, IsWhatStandsBeforeThePort) {
  EXPECT_EQ(host_of("10.0.0.1:6170"), "10.0.0.1");
  EXPECT_EQ(host_of("node-1"), "node-1");
  EXPECT_EQ(host_of(""), "");
}

TEST(PortOf, IsWhatStandsAfterTheHost) {
  EXPECT_EQ(port_of("10.0.0.1:6170"), 6170);
  EXPECT_EQ(port_of("6170"), 0) << "a host";
  EXPECT_EQ(port_of("node-1:"), 0);
  EXPECT_EQ(port_of("node-1:x"), 0);
}

TEST(IsDottedAddress, TakesFourNumbersAndNothingElse) {
  EXPECT_TRUE(is_dotted_address("127.0.0.1"));
  EXPECT_TRUE(is_dotted_address("255.255.255.255"));
  for (const char* const text :
       {"", "10.1", "10.0.0.256", "10.0.0.-1", "10.0.0.1.2", "10.0.0.", "n1", "10.0.0.x"}) {
    EXPECT_FALSE(is_dotted_address(text)) << text;
  }
}

}  // namespace
}  // namespace paddle_launch
