// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/tell/words.h"

namespace paddle_launch {
namespace {

bool advises(std::string_view problem, std::string_view part) {
  return network_advice(problem).find(part) != std::string_view::npos;
}

TEST(NetworkAdvice, KnowsTheUsualProblems) {
  EXPECT_TRUE(advises("connection refused", "nothing listens"));
  EXPECT_TRUE(advises("no route to host", "ip route get"));
  EXPECT_TRUE(advises("network is unreachable", "ip route get"));
  EXPECT_TRUE(advises("no answer in 5 s", "firewall drops"));
  EXPECT_TRUE(advises("name not known", "/etc/hosts"));
  EXPECT_TRUE(advises("a launcher that does not know this job's secret", "PADDLE_LAUNCH_TOKEN"));
  EXPECT_TRUE(advises("a launcher of another job", "--job_id"));
  EXPECT_TRUE(advises("not a launcher", "--bootstrap_port"));
  EXPECT_TRUE(advises("a launcher that speaks protocol 2", "same paddle-launch"));
}

TEST(NetworkAdvice, IsSilentOnTheUnusualOnes) {
  EXPECT_EQ(network_advice("no buffer space available"), "");
  EXPECT_EQ(network_advice(""), "");
}

}  // namespace
}  // namespace paddle_launch
