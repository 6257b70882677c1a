// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/rendezvous/agreement.h"

namespace paddle_launch {
namespace {

OfferMessage pod(const std::string& machine, std::size_t trainers) {
  OfferMessage message;
  message.terms = {.version = "1", .machine = machine, .nodes = 4};
  message.offer.trainers.resize(trainers);
  return message;
}

bool says(const std::optional<RefusalMessage>& refusal, const std::string& words) {
  return refusal && refusal->text.find(words) != std::string::npos;
}

TEST(TaskDisagreement, CountsTheTrainersOfANodeNotOfAPod) {
  EXPECT_EQ(task_disagreement({pod("a", 1), pod("a", 3), pod("b", 4)}, {0, 0, 1}), std::nullopt);
}

TEST(TaskDisagreement, NamesBothNodesAndBothCounts) {
  const auto problem = task_disagreement({pod("a", 4), pod("b", 4), pod("c", 2)}, {0, 1, 2});
  EXPECT_TRUE(says(problem, "a has 4 and c has 2")) << problem->text;
}

TEST(TaskDisagreement, TellsWhatHindersANode) {
  auto sick = pod("b", 0);
  sick.terms.problem = "no cards";
  sick.terms.problem_status = 2;
  const auto problem = task_disagreement({pod("a", 4), sick}, {0, 1});
  EXPECT_TRUE(says(problem, "b: no cards"));
  EXPECT_EQ(problem->status, 2);
}

TEST(TaskDisagreement, RefusesLaunchersOfTwoVersions) {
  auto other = pod("b", 4);
  other.terms.version = "2";
  EXPECT_TRUE(says(task_disagreement({pod("a", 4), other}, {0, 1}), "the launchers differ"));
}

}  // namespace
}  // namespace paddle_launch
