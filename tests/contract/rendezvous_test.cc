// SPDX-License-Identifier: Apache-2.0
// What every rendezvous promises, whichever way its pods find each other. The pods are processes
// (pods.h), and each way has its ground (grounds.h).
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "launcher/job/errors.h"
#include "tests/contract/grounds.h"
#include "tests/contract/pods.h"
#include "tests/unit/etcd/etcd_server.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

constexpr int kPods = 3;
// For those who never come; whoever comes is waited for as long as it takes.
constexpr milliseconds kShort{1000};

class RendezvousTest : public ::testing::TestWithParam<Kind> {
 protected:
  static void TearDownTestSuite() { stop_etcd(); }
  void SetUp() override {
    if (!kind().is_elastic) return;
    NEEDS_ETCD();
  }

  static const Kind& kind() { return GetParam(); }
  static std::unique_ptr<Ground> ground(const PodRange& pods) { return kind().ground(pods); }
  static std::unique_ptr<Ground> ground(int pods) { return ground({pods, pods}); }
  static int all() { return kind().has_others ? kPods : 1; }

  // Everyone ended well, and all had the same rosters, with one place for each pod.
  static void expect_together(const Pods& pods, std::size_t rounds = 1) {
    for (std::size_t i = 0; i < pods.all().size(); ++i) {
      const Pod& pod = pods.at(i);
      ASSERT_EQ(pod.end->status, 0) << pods.story();
      ASSERT_EQ(pod.kind, kind().rendezvous);
      ASSERT_EQ(pod.met.size(), rounds) << pods.story();
      for (std::size_t round = 0; round < rounds; ++round) {
        const Met& met = pod.met[round];
        const Met& first = pods.at(0).met[round];
        ASSERT_EQ(met.round, static_cast<int>(round));
        ASSERT_EQ(met.roster, first.roster);
        ASSERT_EQ(met.payload, first.payload);
        ASSERT_EQ(met.pods.at(static_cast<std::size_t>(met.mine)), static_cast<int>(i));
        ASSERT_EQ(met.mine, pod.met[0].mine) << "in round " << round;
      }
    }
  }

  static std::vector<int> numbers(int count) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  static std::vector<int> sorted(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  // Of three pods the second does not fit. In an elastic job it comes to one that is there already,
  // is turned away, and the others go on; otherwise there is no job, and everyone knows why.
  static void expect_refusal(const Part& misfit, const std::string& words) {
    const auto there = ground({kPods - 1, kPods});
    Pods pods(*there);
    pods.start({.number = 0});
    if (kind().is_elastic) pods.wait([&] { return pods.at(0).waits; });
    pods.start(misfit);
    if (kind().is_elastic) pods.wait([&] { return pods.at(1).end.has_value(); });
    pods.start({.number = 2});
    ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
    kind().is_elastic ? expect_turned_away(pods, words) : expect_heard(pods, words);
  }

  static void expect_turned_away(const Pods& pods, const std::string& words) {
    EXPECT_NE(pods.at(1).end->text.find(words), std::string::npos) << pods.story();
    EXPECT_TRUE(pods.at(1).met.empty()) << pods.story();
    for (const std::size_t other : {0, 2}) {
      EXPECT_EQ(pods.at(other).end->status, 0) << pods.story();
      ASSERT_EQ(pods.at(other).met.size(), 1) << pods.story();
      EXPECT_EQ(sorted(pods.at(other).met[0].pods), (std::vector<int>{0, 2})) << pods.story();
    }
  }

  // By its own error, or by what the first pod said on the console of all.
  static void expect_heard(const Pods& pods, const std::string& words) {
    for (const Pod& pod : pods.all()) {
      EXPECT_NE(pod.end->status, 0) << pods.story();
      EXPECT_TRUE(pod.met.empty()) << pods.story();
      if (kind().has_one_console) continue;
      EXPECT_NE(pod.end->text.find(words), std::string::npos) << pods.story();
    }
    if (!kind().has_one_console) return;
    ASSERT_EQ(pods.at(0).said.size(), 1) << pods.story();
    EXPECT_NE(pods.at(0).said.front().find(words), std::string::npos) << pods.story();
  }
};

// Those that need other pods to show it.
class RendezvousOfSeveralTest : public RendezvousTest {};
class RendezvousThatOthersMayJoinTest : public RendezvousTest {};
class RendezvousOfAllThatThereAreTest : public RendezvousTest {};

TEST_P(RendezvousTest, GivesTheSameRosterToAll) {
  const auto there = ground(all());
  Pods pods(*there);
  pods.start_all(all());
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  ASSERT_NO_FATAL_FAILURE(expect_together(pods));
  EXPECT_EQ(sorted(pods.at(0).met[0].pods), numbers(all()));
  if (kind().keeps_wishes) {
    EXPECT_EQ(pods.at(0).met[0].pods, numbers(all()));
  }
}

TEST_P(RendezvousTest, GivesAllWhatTheFirstPodHas) {
  const auto there = ground(all());
  Pods pods(*there);
  std::string bytes(3000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  pods.start_all(all(), {.payload = bytes});
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  ASSERT_NO_FATAL_FAILURE(expect_together(pods));
  const std::string& payload = pods.at(0).met[0].payload;
  const std::string trainers = " for " + std::to_string(2 * all());
  EXPECT_TRUE(payload.starts_with(bytes + " of "));
  EXPECT_TRUE(payload.ends_with(trainers)) << payload.substr(bytes.size());
}

TEST_P(RendezvousTest, KeepsPlacesForTwoHundredRounds) {
  constexpr int rounds = 200;
  const auto there = ground(all());
  Pods pods(*there);
  pods.start_all(all(), {.rounds = rounds, .payload = "ids"});
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  expect_together(pods, rounds);
}

// Whoever it is, and whatever the order in which the others come.
TEST_P(RendezvousOfSeveralTest, WaitsForTheLateAndGivesThemTheirPlaces) {
  for (const int late : {0, kPods - 1}) {
    const auto there = ground(kPods);
    Pods pods(*there);
    std::vector<Part> parts;
    for (int number = 0; number < kPods; ++number) {
      parts.push_back({.number = number, .place = (number + 1) % kPods});
    }
    for (const Part& part : parts) {
      if (part.wish() != late) pods.start(part);
    }
    // Where nobody tells those who came of the others, they simply have no roster yet.
    usleep(200'000);
    for (const Pod& pod : pods.all()) EXPECT_TRUE(pod.met.empty() && !pod.end) << pods.story();
    const auto last = std::find_if(parts.begin(), parts.end(),
                                   [late](const Part& part) { return part.wish() == late; });
    pods.start(*last);
    ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
    for (const Pod& pod : pods.all()) {
      EXPECT_EQ(pod.end->status, 0) << pods.story();
      ASSERT_EQ(pod.met.size(), 1) << pods.story();
      EXPECT_EQ(pod.met[0].roster, pods.at(0).met[0].roster);
      EXPECT_EQ(sorted(pod.met[0].pods), numbers(kPods));
      if (kind().keeps_wishes) {
        EXPECT_EQ(pod.met[0].pods, (std::vector<int>{2, 0, 1}));
      }
    }
  }
}

// Whenever it dies, so no moment is waited for.
TEST_P(RendezvousOfSeveralTest, NobodyHangsWhereAPodDiesWhileTheyMeet) {
  const auto there = ground(kPods + 1);
  Pods pods(*there);
  pods.start_all(kPods, {.timeout = kShort});
  usleep(100'000);
  pods.kill(kPods - 1);
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  for (std::size_t pod = 0; pod < pods.all().size(); ++pod) {
    EXPECT_TRUE(pods.at(pod).met.empty()) << pods.story();
    if (pod == kPods - 1) continue;
    EXPECT_EQ(pods.at(pod).end->status, kNodeMissingStatus) << pods.story();
  }
}

TEST_P(RendezvousOfSeveralTest, TheOthersHearWhyAPodCannotTakePart) {
  const std::string problem = "the disk of this pod is full";
  expect_refusal({.number = 1, .problem = problem}, problem);
}

TEST_P(RendezvousOfSeveralTest, PodsOfAnotherLayoutHaveNoJobTogether) {
  expect_refusal({.number = 1, .has_other_layout = true}, "the jobs differ");
}

TEST_P(RendezvousOfSeveralTest, TheOthersHearOfAPodThatCallsTheNextRoundOff) {
  const auto there = ground({kPods - 1, kPods});
  Pods pods(*there);
  for (int number = 0; number < kPods; ++number) {
    pods.start({.number = number, .rounds = 2, .calls_off = number == 1});
  }
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  for (const std::size_t other : {0, 2}) {
    const Pod& pod = pods.at(other);
    EXPECT_EQ(pod.end->status == 0, kind().is_elastic) << pods.story();
    ASSERT_FALSE(pod.met.empty()) << pods.story();
    EXPECT_EQ(pod.met.back().round, kind().is_elastic ? 1 : 0) << pods.story();
    if (kind().is_elastic) {
      // They go on without it.
      EXPECT_EQ(sorted(pod.met.back().pods), (std::vector<int>{0, 2})) << pods.story();
    }
    if (kind().is_elastic || kind().has_one_console) continue;
    EXPECT_NE(pod.end->text.find("pod 1 cannot go on"), std::string::npos) << pods.story();
  }
}

TEST_P(RendezvousThatOthersMayJoinTest, AnotherTakesThePlaceOfOneThatDiedWhileTheyMet) {
  const std::vector<int> victims =
      kind().finds_new_hub ? std::vector<int>{0, 1} : std::vector<int>{1};
  for (const int victim : victims) {
    const auto there = ground(kPods);
    Pods pods(*there);
    pods.start({.number = 0});
    ASSERT_TRUE(pods.wait([&] { return pods.at(0).waits; })) << pods.story();
    pods.start({.number = 1});
    pods.kill(static_cast<std::size_t>(victim));
    pods.start({.number = kPods, .place = victim});
    pods.start({.number = kPods - 1});
    ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
    std::vector<int> expected = numbers(kPods);
    expected.at(static_cast<std::size_t>(victim)) = kPods;
    for (std::size_t pod = 0; pod < pods.all().size(); ++pod) {
      if (pod == static_cast<std::size_t>(victim)) continue;
      ASSERT_EQ(pods.at(pod).met.size(), 1) << pods.story();
      const Met& met = pods.at(pod).met[0];
      EXPECT_EQ(sorted(met.pods), sorted(expected)) << pods.story();
      if (kind().keeps_wishes) {
        EXPECT_EQ(met.pods, expected) << pods.story();
      }
    }
  }
}

TEST_P(RendezvousThatOthersMayJoinTest, AnotherTakesThePlaceOfOneThatDiedInARound) {
  const auto there = ground(kPods);
  Pods pods(*there);
  // It is the hub, also where that is whoever comes first.
  pods.start({.number = 0, .rounds = 2, .stays = true});
  pods.wait([&] { return pods.at(0).waits; });
  for (const int number : {1, 2}) pods.start({.number = number, .rounds = 2, .stays = true});
  ASSERT_TRUE(pods.wait_for_round(0, {0, 1, 2})) << pods.story();
  // Not the hub, which the others would be lost with in a job that is not elastic.
  const auto victim = static_cast<std::size_t>(pods.at(0).met[0].pods.at(1));
  const int place = pods.at(victim).met[0].mine;
  pods.kill(victim);
  pods.start({.number = kPods, .place = place, .rounds = 2});
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  ASSERT_FALSE(pods.at(kPods).met.empty()) << pods.story();
  for (std::size_t pod = 0; pod < pods.all().size(); ++pod) {
    if (pod == victim) continue;
    EXPECT_EQ(pods.at(pod).end->status, 0) << pods.story();
    ASSERT_FALSE(pods.at(pod).met.empty()) << pods.story();
    const Met& last = pods.at(pod).met.back();
    EXPECT_EQ(last.round, 1) << pods.story();
    EXPECT_EQ(last.mine, pod == kPods ? place : pods.at(pod).met[0].mine) << pods.story();
    EXPECT_EQ(last.roster, pods.at(kPods).met[0].roster) << pods.story();
  }
}

TEST_P(RendezvousOfAllThatThereAreTest, NobodyHangsWhereAPodDiedInARound) {
  const auto there = ground(kPods);
  Pods pods(*there);
  pods.start_all(kPods, {.rounds = 2, .stays = true, .timeout = kShort});
  ASSERT_TRUE(pods.wait_for_round(0, {0, 1, 2})) << pods.story();
  pods.kill(1);
  ASSERT_TRUE(pods.wait_for_ends()) << pods.story();
  for (const std::size_t pod : {0, 2}) {
    EXPECT_EQ(pods.at(pod).met.size(), 1) << pods.story();
    EXPECT_EQ(pods.at(pod).end->status, kNodeMissingStatus) << pods.story();
  }
}

// The hub is lost, and nobody comes in its place. All ways at once: each is mostly waiting.
TEST(Rendezvous, NobodyHangsWhereTheFirstPodDiesWhileTheyMeet) {
  std::vector<std::unique_ptr<Ground>> grounds;
  std::vector<std::unique_ptr<Pods>> jobs;
  for (const Kind& kind : all_kinds()) {
    if (!kind.has_others || (kind.is_elastic && !why_no_etcd().empty())) continue;
    grounds.push_back(kind.ground({kPods + 1, kPods + 1}));
    jobs.push_back(std::make_unique<Pods>(*grounds.back()));
    jobs.back()->start_all(kPods, {.timeout = kShort});
  }
  usleep(100'000);
  for (const auto& pods : jobs) pods->kill(0);
  for (const auto& pods : jobs) {
    ASSERT_TRUE(pods->wait_for_ends()) << pods->story();
    for (const std::size_t pod : {1, 2}) {
      EXPECT_TRUE(pods->at(pod).met.empty()) << pods->story();
      EXPECT_EQ(pods->at(pod).end->status, kNodeMissingStatus) << pods->story();
    }
  }
  jobs.clear();
  stop_etcd();
}

std::vector<Kind> kinds(const std::function<bool(const Kind&)>& wanted) {
  std::vector<Kind> some;
  std::copy_if(all_kinds().begin(), all_kinds().end(), std::back_inserter(some), wanted);
  return some;
}

std::string name_of(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(All, RendezvousTest, ::testing::ValuesIn(all_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(
    All, RendezvousOfSeveralTest,
    ::testing::ValuesIn(kinds([](const Kind& kind) { return kind.has_others; })), name_of);
INSTANTIATE_TEST_SUITE_P(
    All, RendezvousThatOthersMayJoinTest,
    ::testing::ValuesIn(kinds([](const Kind& kind) { return kind.others_may_come; })), name_of);
INSTANTIATE_TEST_SUITE_P(All, RendezvousOfAllThatThereAreTest,
                         ::testing::ValuesIn(kinds([](const Kind& kind) {
                           return kind.has_others && !kind.others_may_come;
                         })),
                         name_of);

}  // namespace
}  // namespace paddle_launch
