// SPDX-License-Identifier: Apache-2.0
// Rounds of an elastic job, as its hub gathers them: how many are enough, who keeps its place, and
// what becomes of the others.
#include <algorithm>
#include <csignal>
#include <set>

#include <gtest/gtest.h>

#include "launcher/rendezvous/gathering.h"
#include "tests/unit/rendezvous/gathering_hub.h"

namespace paddle_launch {
namespace {

using Hosts = std::vector<std::string>;
using std::chrono::milliseconds;
using Clock = EventLoop::Clock;

constexpr milliseconds kForever = std::chrono::hours(1);

// A book that says what the test wants.
struct FakeRule final : ElasticRule {
  NodeRange nodes() const override { return range; }
  int expected(const std::set<std::string>& here) const override { return still_expected(here); }
  void on_lost(const std::string& name) override { lost.push_back(name); }
  void commit(const Roster& roster, bool as_before, std::function<void(bool)> answered) override {
    were_as_before.push_back(as_before);
    agree(roster, answered);
  }
  bool is_held_up() const override { return held_up; }
  void on_waiting() override {}
  std::string too_few(const WaitingFacts& facts) const override {
    return "missing: " + std::to_string(facts.missing);
  }

  NodeRange range{1, 2};
  std::function<int(const std::set<std::string>&)> still_expected =
      [](const std::set<std::string>&) { return 0; };
  std::function<void(const Roster&, const std::function<void(bool)>&)> agree =
      [](const Roster&, const std::function<void(bool)>& answered) { answered(true); };
  bool held_up = false;
  std::vector<std::string> lost{};
  std::vector<bool> were_as_before{};  // one of each commit
};

class ElasticGatheringTest : public WithGathering {
 protected:
  void SetUp() override {
    settings_.elastic = ElasticTerms{.rule = &rule_, .settle = kForever, .patience = kForever};
  }
  ElasticTerms& terms() { return *settings_.elastic; }

  FakeRule rule_;
};

TEST_F(ElasticGatheringTest, TheMostAreCompleteAtOnce) {
  const auto second = newcomer(offer("n2"));
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(rule_.were_as_before, std::vector<bool>{false});
}

TEST_F(ElasticGatheringTest, TooFewAreNotEnoughAndEnoughSettleFirst) {
  rule_.range = {2, 4};
  terms().settle = milliseconds(150);
  const auto second = newcomer();
  Clock::time_point spoke;
  loop_.after(milliseconds(200), [&] {
    spoke = Clock::now();
    second->say(offer("n2"));
  });
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_NE(spoke, Clock::time_point{});
  EXPECT_GE(Clock::now() - spoke, terms().settle);
}

TEST_F(ElasticGatheringTest, ThoseOfTheRoundBeforeNeedNotSettle) {
  rule_.range = {1, 4};
  terms().before = 2;
  const auto second = old_member(offer("n2", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(rule_.were_as_before, std::vector<bool>{true});
}

TEST_F(ElasticGatheringTest, NodesThatWereKnownBeforeNeedNotSettle) {
  rule_.range = {1, 4};
  terms().before = 1;
  terms().has_settled = true;
  const auto second = newcomer();
  say_beforehand(*second, offer("n2"));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
}

TEST_F(ElasticGatheringTest, WhoIsBookedIsWaitedFor) {
  rule_.range = {1, 4};
  terms().settle = milliseconds(1);
  rule_.still_expected = [](const std::set<std::string>& here) {
    return here.contains("pod-n2") ? 0 : 1;
  };
  const auto second = newcomer();
  loop_.after(milliseconds(100), [&] { second->say(offer("n2")); });
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
}

TEST_F(ElasticGatheringTest, WhoIsBookedAndDoesNotComeIsWaitedForNoLongerThanThat) {
  rule_.range = {1, 4};
  terms().settle = milliseconds(1);
  rule_.still_expected = [](const std::set<std::string>&) { return 1; };
  terms().patience = milliseconds(200);
  const auto start = Clock::now();
  EXPECT_EQ(gather(offer("n1")).hosts(), Hosts{"n1"});
  EXPECT_GE(Clock::now() - start, terms().patience);
}

TEST_F(ElasticGatheringTest, SurvivorsKeepTheirPlacesAndANewcomerFillsTheHole) {
  rule_.range = {1, 3};
  const auto last = old_member(offer("n3", 2));
  const auto fresh = newcomer(offer("new"));
  EXPECT_EQ(gather(offer("n2", 1)).hosts(), (Hosts{"new", "n2", "n3"}));
}

TEST_F(ElasticGatheringTest, WhoeverIsScaledInEndsWellAndWhoNeverHadAPlaceWaits) {
  terms().before = 3;
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(offer("n3", 2));
  const auto fresh = newcomer(offer("new"));
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.hosts(), (Hosts{"n1", "n2"}));
  turn_until([&] { return third->heard<RefusalMessage>() && fresh->heard<WaitingMessage>(); });
  EXPECT_EQ(third->heard<RefusalMessage>()->status, 0);
  EXPECT_EQ(*fresh->heard<WaitingMessage>(), (WaitingMessage{0, 2, {}}));
  EXPECT_EQ(session_->newcomers(), std::vector<OfferMessage>{offer("new")});
}

// Without etcd they may go on: a spare that waits all the while has changed nothing.
TEST_F(ElasticGatheringTest, ASpareBesideThemMakesThemNoOthersThanBefore) {
  terms().before = 2;
  const auto spare = newcomer(offer("spare"));
  const auto second = old_member(offer("n2", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(rule_.were_as_before, std::vector<bool>{true});
}

TEST_F(ElasticGatheringTest, APlaceInAnEarlierRoundIsNone) {
  OfferMessage stale = offer("old", 1);
  stale.terms.round = kGathered - 2;
  const auto old = newcomer(stale);
  const auto second = old_member(offer("n2", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  turn_until([&] { return old->heard<WaitingMessage>() != nullptr; });
  EXPECT_EQ(old->heard<RefusalMessage>(), nullptr);
}

TEST_F(ElasticGatheringTest, WhoComesWhileTheRoundIsBeingAgreedOnWaitsForTheNext) {
  const auto second = old_member(offer("n2", 1));
  std::unique_ptr<FarPod> late = newcomer();
  std::optional<Roster> agreed;
  rule_.range = {1, 3};
  terms().before = 2;
  terms().settle = milliseconds(0);
  rule_.agree = [&](const Roster& roster, const std::function<void(bool)>& answered) {
    agreed = roster;
    late->say(offer("late"));
    when_heard(*late, 1, [answered] { answered(true); });
  };
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.hosts(), hosts_of(*agreed));
  EXPECT_EQ(session_->newcomers(), std::vector<OfferMessage>{offer("late")});
  turn_until([&] { return late->heard<WaitingMessage>() != nullptr; });
  EXPECT_EQ(late->heard<WaitingMessage>()->missing, 0);
}

// With etcd away those of the round before need nobody's leave: the agreement is there at once.
TEST_F(ElasticGatheringTest, WhoCameBeforeItBeganIsNotLostWhenTheOthersAgreeAtOnce) {
  rule_.range = {1, 3};
  terms().before = 2;
  const auto second = old_member(1);
  const auto fresh = newcomer();
  say_beforehand(*second, offer("n2", 1));
  say_beforehand(*fresh, offer("new"));
  const MeetingEnd end = gather(offer("n1", 0));
  const Hosts hosts = end.hosts();
  const bool takes_part = std::count(hosts.begin(), hosts.end(), "new") == 1;
  EXPECT_TRUE(takes_part || session_->newcomers().size() == 1);
}

TEST_F(ElasticGatheringTest, WhatIsNotAgreedOnIsTriedAgain) {
  int tries = 0;
  rule_.agree = [&](const Roster&, const std::function<void(bool)>& answered) {
    answered(++tries == 2);
  };
  const auto second = newcomer(offer("n2"));
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(tries, 2);
}

TEST_F(ElasticGatheringTest, GivingUpIsNoRoundAndAnAnswerThatComesLaterHurtsNobody) {
  std::function<void(bool)> answer;
  rule_.agree = [&](const Roster&, const std::function<void(bool)>& answered) {
    answer = answered;
    gathering_->give_up();
  };
  const auto second = newcomer(offer("n2"));
  const MeetingEnd end = gather(offer("n1"));
  EXPECT_FALSE(end.met);
  EXPECT_EQ(end.status, -1);
  ASSERT_TRUE(answer);
  answer(true);
  session_.reset();
  turn_until([&] { return second->is_gone; });
}

TEST_F(ElasticGatheringTest, WhatHoldsItUpIsWaitedForNoLongerThanTheTimeout) {
  settings_.timeout = milliseconds(1);
  rule_.held_up = true;
  rule_.agree = [](const Roster&, const std::function<void(bool)>& no) { no(false); };
  const auto second = newcomer(offer("n2"));
  const MeetingEnd end = gather(offer("n1"));
  EXPECT_EQ(end.status, 75);
  EXPECT_EQ(end.text, "missing: 0");
  EXPECT_EQ(second->heard<RefusalMessage>()->status, 75);
}

TEST_F(ElasticGatheringTest, OneWhoIsInterruptedIsStruckOutAndTheOthersGoOn) {
  rule_.range = {2, 4};
  terms().settle = milliseconds(1);
  rule_.still_expected = [&](const std::set<std::string>&) { return rule_.lost.empty() ? 1 : 0; };
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(offer("n3", 2));
  when_heard(*third, 1, [&] {
    third->say(RefusalMessage{.status = 128 + SIGTERM, .text = "stopped"});
    third->leave();
  });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(rule_.lost, std::vector<std::string>{"pod-n3"});
}

TEST_F(ElasticGatheringTest, OneWhoGoesBeforeItsOfferIsStruckOutToo) {
  rule_.range = {1, 4};
  terms().settle = milliseconds(1);
  rule_.still_expected = [&](const std::set<std::string>&) { return rule_.lost.empty() ? 1 : 0; };
  const auto second = old_member(1);
  names_ = {"pod-n1", "pod-n2"};
  loop_.after(milliseconds(20), [&] { second->leave(); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), Hosts{"n1"});
  EXPECT_EQ(rule_.lost, std::vector<std::string>{"pod-n2"});
}

TEST_F(ElasticGatheringTest, AnOrderFromOutsideEndsItForAll) {
  rule_.range = {3, 3};
  const auto second = newcomer(offer("n2"));
  loop_.after(milliseconds(20), [&] {
    gathering_->refuse({.status = 128 + SIGTERM, .node = -1, .text = "stopped by --stop"});
  });
  const MeetingEnd end = gather(offer("n1"));
  EXPECT_EQ(end.status, 128 + SIGTERM);
  EXPECT_EQ(second->heard<RefusalMessage>()->text, "stopped by --stop");
}

}  // namespace
}  // namespace paddle_launch
