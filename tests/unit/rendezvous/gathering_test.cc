// SPDX-License-Identifier: Apache-2.0
// Rounds after the first of a job with a fixed number of nodes: the hub has real connections over
// the loopback interface, and all is on one loop.
#include "launcher/rendezvous/gathering.h"

#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>

#include "tests/unit/rendezvous/gathering_hub.h"

namespace paddle_launch {
namespace {

using Hosts = std::vector<std::string>;

const Hosts kAll = {"n1", "n2", "n3"};

class GatheringTest : public WithGathering {
 protected:
  void expect_refused(const FarPod& pod, int status, const std::string& text) {
    const auto* refusal = pod.heard<RefusalMessage>();
    ASSERT_NE(refusal, nullptr);
    EXPECT_EQ(refusal->status, status);
    EXPECT_NE(refusal->text.find(text), std::string::npos) << refusal->text;
  }
};

TEST_F(GatheringTest, AllGetTheRosterWithTheirPlacesAndTheRound) {
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(2);
  loop_.after(std::chrono::milliseconds(50), [&] { third->say(offer("n3", 2)); });
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.hosts(), kAll);
  turn_until([&] { return second->heard<RosterMessage>() && third->heard<RosterMessage>(); });
  EXPECT_EQ(second->heard<RosterMessage>()->mine, 1);
  EXPECT_EQ(third->heard<RosterMessage>()->mine, 2);
  EXPECT_EQ(third->heard<RosterMessage>()->round, settings_.round);
  EXPECT_EQ(end.met->round, settings_.round);
}

TEST_F(GatheringTest, WhoWaitsHearsOnlyWhatIsNewAndTheFirstNames) {
  settings_.nodes = 20;
  settings_.names.clear();
  for (int node = 1; node <= 20; ++node) settings_.names.push_back("n" + std::to_string(node));
  settings_.timeout = std::chrono::milliseconds(5500);
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(2);
  loop_.after(std::chrono::milliseconds(2500), [&] { third->say(offer("n3", 2)); });
  EXPECT_EQ(gather(offer("n1", 0)).status, kNodeMissingStatus);
  std::vector<WaitingMessage> heard;
  for (const Message& message : second->messages) {
    if (const auto* one = std::get_if<WaitingMessage>(&message)) heard.push_back(*one);
  }
  ASSERT_EQ(heard.size(), 2U) << "it has waited for more than five seconds";
  EXPECT_EQ(heard[0].missing, 18);
  EXPECT_EQ(heard[1].missing, 17);
  EXPECT_EQ(heard[0].names, (Hosts{"n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10"}));
}

TEST_F(GatheringTest, WhoCameForWantOfItsOwnHubTakesAFreePlaceOrIsLetGo) {
  settings_.is_first = true;
  const auto without_hub = [](const std::string& host, int place) {
    OfferMessage message = offer(host, place);
    message.terms.other_command = true;
    return message;
  };
  const auto second = newcomer(offer("n2", 1));
  const auto in_the_way = newcomer(without_hub("n2", 1));
  const auto third = newcomer();
  once([&] { return in_the_way->is_gone; }, [&] { third->say(without_hub("n3", 2)); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), kAll);
  EXPECT_EQ(in_the_way->heard<RefusalMessage>(), nullptr);
}

TEST_F(GatheringTest, WhoCameForWantOfItsOwnHubHasNoPartInALaterRound) {
  lost_member(1);
  const auto third = old_member(offer("n3", 2));
  OfferMessage other = offer("n2", 1);
  other.terms.other_command = true;
  const auto in_the_way = newcomer(other);
  const auto again = newcomer();
  once([&] { return in_the_way->is_gone; }, [&] { again->say(offer("n2", 1)); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), kAll);
}

TEST_F(GatheringTest, ANewcomerTakesTheLostPlace) {
  lost_member(1);
  const auto third = old_member(offer("n3", 2));
  const auto again = newcomer(offer("n2", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), kAll);
}

TEST_F(GatheringTest, ANewcomerWithoutARankTakesTheLostPlace) {
  lost_member(1);
  const auto third = old_member(offer("n3", 2));
  const auto again = newcomer(offer("other"));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "other", "n3"}));
}

TEST_F(GatheringTest, WhoeverClaimsATakenPlaceIsTurnedAwayAlone) {
  const auto second = old_member(offer("n2", 1));
  const auto third = old_member(2);
  std::vector<std::unique_ptr<FarPod>> intruders;
  for (const int place : {0, 1, 2}) intruders.push_back(newcomer(offer("x", place)));
  once(
      [&] {
        return std::all_of(intruders.begin(), intruders.end(), [](const auto& pod) {
          return pod->template heard<RefusalMessage>() != nullptr;
        });
      },
      [&] { third->say(offer("n3", 2)); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), kAll);
  expect_refused(*intruders[0], 1, "two launchers claim --rank=0");
  expect_refused(*intruders[1], 1, "two launchers claim --rank=1");
  expect_refused(*intruders[2], 1, "x is in this job already");
}

TEST_F(GatheringTest, ANewcomerWithoutARankDoesNotPushOutWhoIsStillToSpeak) {
  const auto second = old_member(1);
  const auto third = old_member(offer("n3", 2));
  const auto other = newcomer(offer("other"));
  once([&] { return other->heard<RefusalMessage>() != nullptr; },
       [&] { second->say(offer("n2", 1)); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), kAll);
  expect_refused(*other, 1, "one launcher too many");
}

TEST_F(GatheringTest, ANewcomerForWhomThereIsNoPlaceLeftIsToldSo) {
  const auto second = old_member(1);
  const auto third = old_member(2);
  const auto other = newcomer();
  say_beforehand(*second, offer("n2", 1));
  say_beforehand(*third, offer("n3", 2));
  say_beforehand(*other, offer("other"));
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.hosts(), kAll);
  turn_until([&] { return !other->messages.empty(); });
  expect_refused(*other, 1, "one launcher too many");
}

TEST_F(GatheringTest, ANewcomerThatDisagreesIsTurnedAwayAlone) {
  lost_member(1);
  const auto third = old_member(offer("n3", 2));
  OfferMessage of_other_job = offer("x", 1);
  of_other_job.terms.layout = "--server_num=1";
  OfferMessage of_other_list = offer("y", 1);
  of_other_list.terms.nodes = 4;
  const auto one = newcomer(of_other_job);
  const auto other = newcomer(of_other_list);
  const auto good = newcomer();
  once([&] { return one->heard<RefusalMessage>() && other->heard<RefusalMessage>(); },
       [&] { good->say(offer("n2", 1)); });
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), kAll);
  expect_refused(*one, 1, "the jobs differ");
  expect_refused(*other, 1, "the lists of nodes differ");
}

TEST_F(GatheringTest, AnOldMemberThatDisagreesOrCannotGoOnEndsItForAll) {
  const auto second = old_member(offer("n2", 1));
  OfferMessage troubled = offer("n3", 2);
  troubled.terms.problem = "no card 9 here";
  const auto third = old_member(troubled);
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.text, "n3: no card 9 here");
  expect_refused(*second, 1, end.text);
  expect_refused(*third, 1, end.text);
}

TEST_F(GatheringTest, WhatWasSaidBeforeItBeganCountsThoughWhoSaidItIsGone) {
  const auto second = old_member(offer("n2", 1));
  lost_member(2, {RefusalMessage{.status = 128 + SIGTERM, .text = "n3: stopped by SIGTERM"}});
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.status, 128 + SIGTERM);
  EXPECT_EQ(end.text, "n3: stopped by SIGTERM");
  expect_refused(*second, 128 + SIGTERM, end.text);
}

TEST_F(GatheringTest, AnOfferOfOneWhoIsGoneDoesNotCount) {
  lost_member(1, {offer("n2", 1)});
  const auto third = old_member(offer("n3", 2));
  const auto again = newcomer(offer("new", 1));
  EXPECT_EQ(gather(offer("n1", 0)).hosts(), (Hosts{"n1", "new", "n3"}));
}

TEST_F(GatheringTest, WhereNobodyElseCanComeALostMemberEndsIt) {
  settings_.others_may_come = false;
  const auto second = old_member(1);
  lost_member(2);
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.status, 75);
  EXPECT_EQ(end.text, "node n3 was lost between two rounds: its launcher ended without a word");
  expect_refused(*second, 75, end.text);
}

TEST_F(GatheringTest, WhoNeverCameIsNamedToAll) {
  settings_.timeout = std::chrono::milliseconds(1);
  const auto second = old_member(offer("n2", 1));
  lost_member(2);
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.status, 75);
  EXPECT_NE(end.text.find("n3"), std::string::npos) << end.text;
  expect_refused(*second, 75, end.text);
}

TEST_F(GatheringTest, WhenTheHubIsStoppedTheMembersHearWhy) {
  const auto second = old_member(offer("n2", 1));
  loop_.after(std::chrono::milliseconds(20), [this] {
    loop_.end_wait(std::make_exception_ptr(StoppedBySignal(SIGINT, "stopped by SIGINT")));
  });
  const MeetingEnd end = gather(offer("n1", 0));
  EXPECT_EQ(end.status, 128 + SIGINT);
  expect_refused(*second, 128 + SIGINT, "n1: stopped by SIGINT");
}

}  // namespace
}  // namespace paddle_launch
