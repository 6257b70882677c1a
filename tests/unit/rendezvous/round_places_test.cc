// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "launcher/rendezvous/places.h"

namespace paddle_launch {
namespace {

using Places = std::vector<std::optional<int>>;

constexpr std::optional<int> kNone;

Places places_of(const Places& before, int most) {
  std::vector<Candidate> candidates;
  for (const auto& place : before) candidates.push_back({.place = place});
  return round_places(candidates, most);
}

TEST(RoundPlaces, NobodyHasNoPlace) {
  EXPECT_EQ(places_of({}, 4), Places{});
  EXPECT_EQ(places_of({}, 0), Places{});
}

TEST(RoundPlaces, TheFirstRoundGoesBySeniority) {
  EXPECT_EQ(places_of({kNone, kNone, kNone}, 4), (Places{0, 1, 2}));
  EXPECT_EQ(places_of({kNone, kNone, kNone}, 2), (Places{0, 1, kNone}));
}

TEST(RoundPlaces, KeepsThePlacesOfThoseWhoStay) {
  EXPECT_EQ(places_of({2, 0, 1}, 3), (Places{2, 0, 1}));
}

TEST(RoundPlaces, ANewcomerTakesTheHole) {
  EXPECT_EQ(places_of({kNone, 0, 2}, 3), (Places{1, 0, 2}));
}

TEST(RoundPlaces, WhoHasNoPlaceAnyMoreFillsTheHoleBeforeNewcomers) {
  EXPECT_EQ(places_of({kNone, 3, 0}, 3), (Places{2, 1, 0}));
}

TEST(RoundPlaces, SeveralWithoutAPlaceFillTheHolesInTheirOldOrder) {
  EXPECT_EQ(places_of({7, 5, 1}, 8), (Places{2, 0, 1}));
}

TEST(RoundPlaces, TheRoundBeforeGoesFirstWhenThereAreTooMany) {
  EXPECT_EQ(places_of({2, kNone, kNone, 1, 0}, 3), (Places{2, kNone, kNone, 1, 0}));
  EXPECT_EQ(places_of({kNone, kNone, 4}, 2), (Places{1, kNone, 0}));
}

TEST(RoundPlaces, OfTheRoundBeforeTheLowestPlacesGoFirst) {
  EXPECT_EQ(places_of({1, 3, 2, 0}, 2), (Places{1, kNone, kNone, 0}));
}

TEST(RoundPlaces, OfTwoWhoClaimOnePlaceTheSeniorKeepsIt) {
  EXPECT_EQ(places_of({1, 1}, 2), (Places{1, 0}));
  EXPECT_EQ(places_of({0, 0, 0}, 2), (Places{0, 1, kNone}));
}

TEST(RoundPlaces, ImpossibleNumbersAreNoPlaces) {
  EXPECT_EQ(places_of({-1, 0}, 2), (Places{1, 0}));
  EXPECT_EQ(places_of({0, kNone}, 0), (Places{kNone, kNone}));
  EXPECT_EQ(places_of({0, kNone}, -3), (Places{kNone, kNone}));
  EXPECT_EQ(places_of({2147483647, kNone}, 2), (Places{0, 1}));
}

struct RandomCase {
  Places before;
  int most = 0;
};

RandomCase random_case(std::mt19937& random) {
  const auto up_to = [&random](int last) {
    return std::uniform_int_distribution<int>(0, last)(random);
  };
  RandomCase one{.before = Places(static_cast<std::size_t>(up_to(12))), .most = up_to(14)};
  std::vector<int> free(16);
  for (std::size_t i = 0; i < free.size(); ++i) free[i] = static_cast<int>(i);
  std::shuffle(free.begin(), free.end(), random);
  const int newcomers_in_ten = up_to(10);
  for (auto& place : one.before) {
    if (up_to(9) < newcomers_in_ten) continue;
    place = free.back();
    free.pop_back();
  }
  return one;
}

// How many claims are better than this one. The first is the best in any case.
std::size_t claims_before(const Places& before, std::size_t who) {
  if (who == 0) return 0;
  std::size_t count = 1;
  for (std::size_t other = 1; other < before.size(); ++other) {
    const bool both_new = !before[other] && !before[who];
    if (before[other] && (!before[who] || *before[other] < *before[who])) ++count;
    if (both_new && other < who) ++count;
  }
  return count;
}

void expect_good(const RandomCase& one) {
  const Places after = places_of(one.before, one.most);
  const std::size_t room = std::min(one.before.size(), static_cast<std::size_t>(one.most));
  ASSERT_EQ(after.size(), one.before.size());
  std::set<int> taken;
  for (std::size_t who = 0; who < after.size(); ++who) {
    EXPECT_EQ(after[who].has_value(), claims_before(one.before, who) < room) << "the best claims";
    if (!after[who]) continue;
    EXPECT_TRUE(taken.insert(*after[who]).second) << "distinct";
    const auto& old = one.before[who];
    const bool can_keep = old && *old < static_cast<int>(room);
    if (can_keep) {
      EXPECT_EQ(after[who], old) << "whoever can keeps its place";
    }
  }
  EXPECT_EQ(taken.size(), room);
  if (room == 0) return;
  EXPECT_EQ(*taken.begin(), 0);
  EXPECT_EQ(*taken.rbegin(), static_cast<int>(room) - 1) << "dense";
}

// Those who move, in the order of their claims, go to rising places.
void expect_holes_in_order(const RandomCase& one) {
  const Places after = places_of(one.before, one.most);
  std::vector<std::size_t> moved;
  for (std::size_t who = 0; who < after.size(); ++who) {
    const bool is_hub = who == 0;  // its place in the queue is its own
    if (!is_hub && after[who] && after[who] != one.before[who]) moved.push_back(who);
  }
  std::sort(moved.begin(), moved.end(), [&one](std::size_t a, std::size_t b) {
    return claims_before(one.before, a) < claims_before(one.before, b);
  });
  EXPECT_TRUE(std::is_sorted(moved.begin(), moved.end(), [&after](std::size_t a, std::size_t b) {
    return *after[a] < *after[b];
  }));
}

TEST(RoundPlaces, AreDenseAndDistinctAndKeptWhateverHappens) {
  std::mt19937 random(20240117);
  for (int i = 0; i < 5000 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const RandomCase one = random_case(random);
    expect_good(one);
    expect_holes_in_order(one);
  }
}

TEST(RoundPlaces, ASecondRoundOfTheSameNodesChangesNothing) {
  std::mt19937 random(4);
  for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
    const RandomCase one = random_case(random);
    const Places after = places_of(one.before, one.most);
    EXPECT_EQ(places_of(after, one.most), after);
  }
}

TEST(RoundPlaces, WhoeverHoldsTheJobTogetherStaysWhenTheJobIsScaledIn) {
  EXPECT_EQ(round_places({{1}, {0}}, 1), (std::vector<std::optional<int>>{0, std::nullopt}));
  EXPECT_EQ(round_places({{3}, {0}, {1}, {2}}, 2),
            (std::vector<std::optional<int>>{1, 0, std::nullopt, std::nullopt}));
  EXPECT_EQ(round_places({{std::nullopt}, {0}, {1}}, 2),
            (std::vector<std::optional<int>>{1, 0, std::nullopt}));
}

}  // namespace
}  // namespace paddle_launch
