// SPDX-License-Identifier: Apache-2.0
// The cards of a node that has several launchers.
#include <string>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "launcher/site/choose_cards.h"

namespace paddle_launch {
namespace {

using Hands = std::vector<std::vector<std::string>>;

ChosenCards cards(std::initializer_list<const char*> names) {
  ChosenCards chosen{CardKind::Gpu, {}};
  for (const char* name : names) chosen.cards.push_back({name, name, {}});
  return chosen;
}

Hands dealt(const ChosenCards& chosen, std::optional<int> nproc_per_node, const NodeShare& share) {
  Hands hands;
  for (const auto& hand : deal_cards(chosen, nproc_per_node, share)) {
    hands.emplace_back();
    for (const Card& card : hand) hands.back().push_back(card.name);
  }
  return hands;
}

std::string refusal(const ChosenCards& chosen, std::optional<int> nproc_per_node,
                    const NodeShare& share) {
  try {
    deal_cards(chosen, nproc_per_node, share);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "it was not refused";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DealCardsToLaunchers, TheLaunchersOfANodeTakeItsCardsInOrder) {
  const ChosenCards four = cards({"4", "5", "6", "7"});
  EXPECT_EQ(dealt(four, {}, {.local = 0, .launchers = 4}), (Hands{{"4"}}));
  EXPECT_EQ(dealt(four, {}, {.local = 3, .launchers = 4}), (Hands{{"7"}}));
  EXPECT_EQ(dealt(four, {}, {.local = 0, .launchers = 2}), (Hands{{"4"}, {"5"}}));
  EXPECT_EQ(dealt(four, {}, {.local = 1, .launchers = 2}), (Hands{{"6"}, {"7"}}));
  EXPECT_EQ(dealt(four, {}, {}), (Hands{{"4"}, {"5"}, {"6"}, {"7"}}));
}

TEST(DealCardsToLaunchers, ProcessesAreCountedForTheNode) {
  const ChosenCards four = cards({"0", "1", "2", "3"});
  EXPECT_EQ(dealt(four, 2, {.local = 1, .launchers = 2}), (Hands{{"2", "3"}}));
  EXPECT_EQ(dealt(four, 4, {.local = 1, .launchers = 2}), (Hands{{"2"}, {"3"}}));
}

TEST(DealCardsToLaunchers, CardsOfItsOwnAreALaunchersAlone) {
  const NodeShare second{.local = 1, .launchers = 2, .own_cards = true};
  EXPECT_EQ(dealt(cards({"0"}), {}, second), (Hands{{"0"}}));
  EXPECT_EQ(dealt(cards({"0", "1"}), {}, second), (Hands{{"0"}, {"1"}}));
  EXPECT_EQ(dealt(cards({"0", "1"}), 2, second), (Hands{{"0", "1"}}));
  EXPECT_EQ(dealt(cards({"0", "1"}), 4, second), (Hands{{"0"}, {"1"}}));
}

TEST(DealCardsToLaunchers, OnTheCpuEachLauncherHasOneTrainerOrItsPart) {
  EXPECT_EQ(dealt({}, {}, {.local = 2, .launchers = 4}), Hands(1));
  EXPECT_EQ(dealt({}, 8, {.local = 2, .launchers = 4}), Hands(2));
  EXPECT_EQ(dealt({}, 8, {.local = 2, .launchers = 4, .own_cards = true}), Hands(2));
}

TEST(DealCardsToLaunchers, RefusesUnevenPartsAndNamesBothNumbers) {
  const ChosenCards six = cards({"0", "1", "2", "3", "4", "5"});
  const std::string uneven = refusal(six, {}, {.local = 0, .launchers = 4});
  EXPECT_TRUE(says(uneven, "this node has 6 cards (0,1,2,3,4,5) and 4 launchers; ")) << uneven;
  EXPECT_TRUE(says(uneven, "--gpus")) << uneven;
  const std::string scarce = refusal(cards({"7"}), {}, {.local = 0, .launchers = 2});
  EXPECT_TRUE(says(scarce, "1 card (7) and 2 launchers")) << scarce;

  for (const bool own : {false, true}) {
    const std::string odd = refusal(six, 3, {.local = 0, .launchers = 2, .own_cards = own});
    EXPECT_TRUE(says(odd, "--nproc_per_node=3: this node has 2 launchers")) << odd;
  }
  const std::string cpu = refusal({}, 3, {.local = 0, .launchers = 2});
  EXPECT_TRUE(says(cpu, "--nproc_per_node=3: this node has 2 launchers")) << cpu;
}

TEST(DealCardsToLaunchers, RefusesProcessesThatDoNotDivideTheCards) {
  const std::string shared = refusal(cards({"0", "1", "2", "3"}), 8, {.local = 0, .launchers = 2});
  EXPECT_TRUE(says(shared, "gpus' number:4 mod nproc_per_node:8 must == 0")) << shared;
}

TEST(FirstOfShare, CountsTheTrainersBefore) {
  EXPECT_EQ(first_of_share({}, 8), 0);
  EXPECT_EQ(first_of_share({.local = 3, .launchers = 4}, 2), 6);
}

}  // namespace
}  // namespace paddle_launch
