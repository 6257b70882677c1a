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

class ElasticGatheringTest : public WithGathering {
 protected:
  void SetUp() override {
    settings_.elastic = ElasticRule{
        .nodes = [this] { return range_; },
        .settle = kForever,
        .expected = [](const std::set<std::string>&) { return 0; },
        .patience = kForever,
        .lost = [this](const std::string& name) { lost_.push_back(name); },
        .commit =
            [this](const Roster&, bool as_before, const std::function<void(bool)>& answered) {
              were_as_before_.push_back(as_before);
              answered(true);
            },
        .is_held_up = [] { return false; }};
  }
  ElasticRule& rule() { return *settings_.elastic; }

  NodeRange range_{1, 2};
  std::vector<std::string> lost_;
  std::vector<bool> were_as_before_;  // one of each commit
};

TEST_F(ElasticGatheringTest, TheMostAreCompleteAtOnce) {
  const auto second = newcomer(offer("n2"));
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(were_as_before_, std::vector<bool>{false});
}

TEST_F(ElasticGatheringTest, TooFewAreNotEnoughAndEnoughSettleFirst) {
  range_ = {2, 4};
  rule().settle = milliseconds(150);
  const auto second = newcomer();
  Clock::time_point spoke;
  loop_.after(milliseconds(200), [&] {
    spoke = Clock::now();
    second->say(offer("n2"));
  });
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_NE(spoke, Clock::time_point{});
  EXPECT_GE(Clock::now() - spoke, rule().settle);
}

TEST_F(ElasticGatheringTest, ThoseOfTheRoundBeforeNeedNotSettle) {
  range_ = {1, 4};
  rule().before = 2;
  const auto second = old_member(offer("n2", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(were_as_before_, std::vector<bool>{true});
}

TEST_F(ElasticGatheringTest, NodesThatWereKnownBeforeNeedNotSettle) {
  range_ = {1, 4};
  rule().before = 1;
  rule().has_settled = true;
  const auto second = newcomer(offer("n2"));
  turn_until([&] { return !connections_.news->messages.empty(); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
}

TEST_F(ElasticGatheringTest, WhoIsBookedIsWaitedFor) {
  range_ = {1, 4};
  rule().settle = milliseconds(1);
  rule().expected = [](const std::set<std::string>& here) {
    return here.contains("pod-n2") ? 0 : 1;
  };
  const auto second = newcomer();
  loop_.after(milliseconds(100), [&] { second->say(offer("n2")); });
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
}

TEST_F(ElasticGatheringTest, WhoIsBookedAndDoesNotComeIsWaitedForNoLongerThanThat) {
  range_ = {1, 4};
  rule().settle = milliseconds(1);
  rule().expected = [](const std::set<std::string>&) { return 1; };
  rule().patience = milliseconds(200);
  const auto start = Clock::now();
  EXPECT_EQ(gather(offer("n1")).hosts(), Hosts{"n1"});
  EXPECT_GE(Clock::now() - start, rule().patience);
}

TEST_F(ElasticGatheringTest, SurvivorsKeepTheirPlacesAndANewcomerFillsTheHole) {
  range_ = {1, 3};
  const auto last = old_member(offer("n3", 2));
  const auto fresh = newcomer(offer("new"));
  EXPECT_EQ(gather(offer("n2", 1)).hosts(), (Hosts{"new", "n2", "n3"}));
}

TEST_F(ElasticGatheringTest, WhoeverIsScaledInEndsWellAndWhoNeverHadAPlaceWaits) {
  rule().before = 3;
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(offer("n3", 2));
  const auto fresh = newcomer(offer("new"));
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.hosts(), (Hosts{"n1", "n2"}));
  turn_until([&] { return third->heard<RefusalMessage>() && fresh->heard<WaitingMessage>(); });
  EXPECT_EQ(third->heard<RefusalMessage>()->status, 0);
  EXPECT_EQ(*fresh->heard<WaitingMessage>(), (WaitingMessage{0, 2, {}}));
  EXPECT_EQ(end.met->channel->newcomers(), std::vector<OfferMessage>{offer("new")});
}

// Without etcd they may go on: a spare that waits all the while has changed nothing.
TEST_F(ElasticGatheringTest, ASpareBesideThemMakesThemNoOthersThanBefore) {
  rule().before = 2;
  const auto spare = newcomer(offer("spare"));
  const auto second = old_member(offer("n2", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(were_as_before_, std::vector<bool>{true});
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
  range_ = {1, 3};
  rule().before = 2;
  rule().settle = milliseconds(0);
  rule().commit = [&](const Roster& roster, bool, const std::function<void(bool)>& answered) {
    agreed = roster;
    late->say(offer("late"));
    when_heard(*late, 1, [answered] { answered(true); });
  };
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.hosts(), hosts_of(*agreed));
  EXPECT_EQ(end.met->channel->newcomers(), std::vector<OfferMessage>{offer("late")});
  turn_until([&] { return late->heard<WaitingMessage>() != nullptr; });
  EXPECT_EQ(late->heard<WaitingMessage>()->missing, 0);
}

// With etcd away those of the round before need nobody's leave: the agreement is there at once.
TEST_F(ElasticGatheringTest, WhoCameBeforeItBeganIsNotLostWhenTheOthersAgreeAtOnce) {
  range_ = {1, 3};
  rule().before = 2;
  const auto second = old_member(1);
  const auto fresh = newcomer();
  connections_.news->messages.emplace_back(0, offer("n2", 1));
  connections_.news->messages.emplace_back(1, offer("new"));
  const MeetingEnd end = gather(offer("n1", 0));
  const Hosts hosts = end.hosts();
  const bool takes_part = std::count(hosts.begin(), hosts.end(), "new") == 1;
  EXPECT_TRUE(takes_part || end.met->channel->newcomers().size() == 1);
}

TEST_F(ElasticGatheringTest, WhatIsNotAgreedOnIsTriedAgain) {
  int tries = 0;
  rule().commit = [&](const Roster&, bool, const std::function<void(bool)>& answered) {
    answered(++tries == 2);
  };
  const auto second = newcomer(offer("n2"));
  EXPECT_EQ(gather(offer("n1")).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(tries, 2);
}

TEST_F(ElasticGatheringTest, GivingUpIsNoRoundAndAnAnswerThatComesLaterHurtsNobody) {
  std::function<void(bool)> answer;
  rule().commit = [&](const Roster&, bool, const std::function<void(bool)>& answered) {
    answer = answered;
    gathering_->give_up();
  };
  const auto second = newcomer(offer("n2"));
  const MeetingEnd end = gather(offer("n1"));
  EXPECT_FALSE(end.met);
  EXPECT_EQ(end.status, -1);
  ASSERT_TRUE(answer);
  answer(true);
  turn_until([&] { return second->is_gone; });
}

TEST_F(ElasticGatheringTest, WhatHoldsItUpIsWaitedForNoLongerThanTheTimeout) {
  settings_.timeout = milliseconds(1);
  settings_.never_came = [](const WaitingFacts& facts) {
    return "missing: " + std::to_string(facts.missing);
  };
  rule().is_held_up = [] { return true; };
  rule().commit = [](const Roster&, bool, const std::function<void(bool)>& no) { no(false); };
  const auto second = newcomer(offer("n2"));
  const MeetingEnd end = gather(offer("n1"));
  EXPECT_EQ(end.status, 75);
  EXPECT_EQ(end.text, "missing: 0");
  EXPECT_EQ(second->heard<RefusalMessage>()->status, 75);
}

TEST_F(ElasticGatheringTest, OneWhoIsInterruptedIsStruckOutAndTheOthersGoOn) {
  range_ = {2, 4};
  rule().settle = milliseconds(1);
  rule().expected = [&](const std::set<std::string>&) { return lost_.empty() ? 1 : 0; };
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(offer("n3", 2));
  when_heard(*third, 1, [&] {
    third->say(RefusalMessage{.status = 128 + SIGTERM, .text = "stopped"});
    third->leave();
  });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(lost_, std::vector<std::string>{"pod-n3"});
}

TEST_F(ElasticGatheringTest, OneWhoGoesBeforeItsOfferIsStruckOutToo) {
  range_ = {1, 4};
  rule().settle = milliseconds(1);
  rule().expected = [&](const std::set<std::string>&) { return lost_.empty() ? 1 : 0; };
  const auto second = old_member(1);
  connections_.names = {"pod-n1", "pod-n2"};
  loop_.after(milliseconds(20), [&] { second->leave(); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), Hosts{"n1"});
  EXPECT_EQ(lost_, std::vector<std::string>{"pod-n2"});
}

TEST_F(ElasticGatheringTest, AnOrderFromOutsideEndsItForAll) {
  range_ = {3, 3};
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
