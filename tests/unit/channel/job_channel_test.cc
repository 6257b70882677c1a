// SPDX-License-Identifier: Apache-2.0
// Both ends of a job's channel over a real socket of the loopback interface, on one loop.
#include "launcher/channel/job_channel.h"

#include <gtest/gtest.h>

#include "launcher/channel/solo_channel.h"
#include "tests/unit/channel/two_ends.h"

namespace paddle_launch {
namespace {

class JobChannelTest : public TwoEnds {};

TEST_F(JobChannelTest, AServerThatFailsStopsTheJob) {
  member_->tell_stop(server_failed(1));
  turn_until([&] { return heard_by_hub_.stop.has_value(); });
  channel_->work_is_done();  // too late: there is a reason already
  channel_->tell_ending({});
  member_->tell_ending(ending_of(server_failed(1)));
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->first.status, 9);
  EXPECT_EQ(heard_by_hub_.verdict->aborted, (std::vector<ProcessName>{{Role::Server, 0}}));
  EXPECT_EQ(heard_by_member_.verdict->first.status, 9);
}

TEST_F(JobChannelTest, ANodeThatDoesNotShowTheReportLearnsWhoWasFirst) {
  PodEnding ending = ending_of(server_failed(0));
  ending.failures.front().log_excerpt = "the end of a log";
  ending.failures.push_back(ending.failures.front());
  channel_->tell_stop(server_failed(0));
  channel_->tell_ending(ending);
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->failures, ending.failures);
  ASSERT_EQ(heard_by_member_.verdict->failures.size(), 1U);
  EXPECT_EQ(heard_by_member_.verdict->failures.front().role, Role::Server);
  EXPECT_EQ(heard_by_member_.verdict->failures.front().log_excerpt, "");
}

TEST_F(JobChannelTest, WhatServersDoWhenTheWorkIsDoneIsNoFailure) {
  channel_->work_is_done();
  member_->tell_stop(server_failed(1));
  member_->tell_ending(ending_of(server_failed(1)));
  channel_->tell_stop(server_failed(0));
  channel_->tell_ending(ending_of(server_failed(0)));
  turn_until([&] { return have_verdict(); });
  for (const Heard* heard : {&heard_by_hub_, &heard_by_member_}) {
    EXPECT_FALSE(heard->stop);
    EXPECT_EQ(heard->verdict->first, StopCause{});
    EXPECT_TRUE(heard->verdict->aborted.empty());
  }
}

TEST_F(JobChannelTest, ANodeThatIsLostWhenTheWorkIsDoneIsOnlyRemarked) {
  channel_->work_is_done();
  channel_->tell_ending({});
  EXPECT_FALSE(heard_by_hub_.verdict);
  member_.reset();
  turn_until([&] { return heard_by_hub_.verdict.has_value(); });
  EXPECT_FALSE(heard_by_hub_.stop);
  EXPECT_EQ(heard_by_hub_.verdict->first, StopCause{});
  EXPECT_EQ(heard_by_hub_.remarks,
            std::vector<std::string>{"node n2 was lost after all workers had finished"});
}

TEST_F(JobChannelTest, AHubThatIsLostWhenTheWorkIsDoneIsOnlyRemarked) {
  member_->work_is_done();
  member_->tell_stop(server_failed(1));
  channel_.reset();
  turn_until([&] { return !heard_by_member_.remarks.empty(); });
  EXPECT_EQ(heard_by_member_.remarks.front(),
            "node n1, which holds the job together, was lost after all workers had finished");
  EXPECT_FALSE(heard_by_member_.stop);
  member_->tell_ending(ending_of(server_failed(1)));
  ASSERT_TRUE(heard_by_member_.verdict);
  EXPECT_EQ(heard_by_member_.verdict->first, StopCause{});
}

TEST_F(JobChannelTest, AHubThatIsLostBeforeIsAReasonToStop) {
  channel_.reset();
  turn_until([&] { return heard_by_member_.stop.has_value(); });
  EXPECT_EQ(heard_by_member_.stop->kind, StopCause::Kind::PodLost);
  member_->tell_ending({});
  ASSERT_TRUE(heard_by_member_.verdict);
  EXPECT_EQ(heard_by_member_.verdict->first.status, 75);
}

TEST_F(JobChannelTest, ImpatienceIsHeardEvenWhenTheWorkIsDone) {
  channel_->work_is_done();
  member_->work_is_done();
  channel_->tell_kill();
  member_->tell_kill();
  turn_until([&] { return heard_by_hub_.kills > 0 && heard_by_member_.kills > 0; });
}

TEST_F(JobChannelTest, ANewcomerToARunningRoundIsRefused) {
  channel_->set_policy(once_more());
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<RefusalMessage>() != nullptr; });
  EXPECT_EQ(newcomer->heard<RefusalMessage>()->status, 1);
  EXPECT_TRUE(channel_->newcomers().empty());
}

TEST_F(JobChannelTest, ANewcomerToARoundThatEndsIsHandedOnToTheNext) {
  channel_->set_policy(once_more());
  channel_->tell_stop(server_failed(0));
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<WaitingMessage>() != nullptr; });
  EXPECT_EQ(*newcomer->heard<WaitingMessage>(), (WaitingMessage{1, 2, {}}));
  channel_->decide_now();
  const Connections left = channel_->release();
  ASSERT_EQ(left.news->messages.size(), 1U);
  EXPECT_EQ(left.news->messages.front(),
            (std::pair<int, Message>{kNewcomer, Message(offer_of("n3"))}));
}

TEST_F(JobChannelTest, ANewcomerThatWentIsForgotten) {
  channel_->set_policy(once_more());
  channel_->tell_stop(server_failed(0));
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<WaitingMessage>() != nullptr; });
  newcomer->leave();
  turn_until([&] { return !at_hub_->has(kNewcomer); });
  channel_->decide_now();
  EXPECT_TRUE(channel_->release().news->messages.empty());
}

TEST_F(JobChannelTest, TheClockOfTheOneThatGaveTheReasonIsAskedToo) {
  EXPECT_FALSE(at_hub_->clock_of(kMember));
  member_->tell_stop(server_failed(1));
  turn_until([&] { return at_hub_->clock_of(kMember).has_value(); });
  EXPECT_FALSE(heard_by_member_.stop) << "it knows";
}

TEST_F(JobChannelTest, ANewcomerIsToldWhenThereIsNoNextRound) {
  channel_->set_policy([](const JobVerdict&, bool) { return std::nullopt; });
  channel_->tell_stop(server_failed(0));
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<WaitingMessage>() != nullptr; });
  channel_->decide_now();
  turn_until([&] { return newcomer->heard<RefusalMessage>() != nullptr; });
  EXPECT_EQ(newcomer->heard<RefusalMessage>()->status, 1);
}

TEST_F(JobChannelTest, TheDoorkeeperSaysWhoMayWait) {
  channel_->set_doorkeeper([](const OfferMessage& offer) {
    return offer.offer.host == "n3" ? std::nullopt : std::optional(RefusalMessage{.text = "no"});
  });
  const auto fitting = come();
  const auto other = come();
  fitting->say(offer_of("n3"));
  other->say(offer_of("n4"));
  turn_until([&] { return fitting->heard<WaitingMessage>() && other->heard<RefusalMessage>(); });
  EXPECT_EQ(fitting->heard<WaitingMessage>()->missing, 0);
  EXPECT_EQ(other->heard<RefusalMessage>()->text, "no");
  EXPECT_EQ(channel_->newcomers(), std::vector<OfferMessage>{offer_of("n3")});
  channel_->decide_now();
  turn_until([&] { return fitting->heard<RefusalMessage>() != nullptr; });
  EXPECT_EQ(fitting->heard<RefusalMessage>()->status, 0);
  turn_until([&] { return channel_->newcomers().empty(); });
}

TEST_F(JobChannelTest, WhoeverIsInterruptedAfterItsWorkWasAskedToEnd) {
  channel_->tell_ending({});
  EXPECT_TRUE(channel_->has_endings());
  channel_->tell_stop(interrupted(0));
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->asked_to_end, 1);
  EXPECT_EQ(heard_by_member_.verdict->asked_to_end, 1);
}

TEST_F(JobChannelTest, AMemberThatFailedAndIsInterruptedAfterItsEndWasAskedToEnd) {
  std::optional<int> asked;
  channel_->set_policy([&](const JobVerdict& verdict, bool) {
    asked = verdict.asked_to_end;
    return std::nullopt;
  });
  member_->tell_stop(server_failed(1));
  member_->tell_ending(ending_of(server_failed(1)));
  member_->tell_stop(interrupted(1));
  member_->tell_kill();
  turn_until([&] { return heard_by_hub_.kills > 0; });
  channel_->tell_ending({});
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(heard_by_hub_.verdict->first.status, 9);
}

TEST_F(JobChannelTest, AVerdictWithAnotherRoundLeavesBothEndsForIt) {
  channel_->set_policy(once_more());
  channel_->tell_ending({});
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->next, kNext);
  EXPECT_EQ(heard_by_member_.verdict->next, kNext);
  member_->tell(offer_of("n2"));
  Connections of_hub = channel_->release();
  Connections of_member = member_->release();
  ASSERT_TRUE(of_hub.hub && of_member.link);
  EXPECT_EQ(of_hub.members, (std::map<int, int>{{kMember, 1}}));
  turn_until([&] { return !of_hub.news->messages.empty(); });
  EXPECT_EQ(of_hub.news->messages.front().second, Message(offer_of("n2")));
  of_hub.hub->send(kMember, RefusalMessage{.text = "no"});
  turn_until([&] { return of_member.news->refusal() != nullptr; });
  of_member.link.reset();
  turn_until([&] { return !of_hub.news->gone.empty(); });
  EXPECT_EQ(of_hub.news->gone.front().first, kMember);
}

TEST_F(JobChannelTest, TheNextRoundHearsWhatAMemberSaidAfterTheVerdictAndThatItWent) {
  channel_->set_policy(once_more());
  channel_->tell_ending({});
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  member_->tell(RefusalMessage{.status = 143, .text = "stopped"});
  member_.reset();
  turn_until([&] { return !at_hub_->has_members(); });
  const Connections left = channel_->release();
  ASSERT_NE(left.news->refusal(), nullptr);
  EXPECT_EQ(left.news->refusal()->status, 143);
  ASSERT_EQ(left.news->gone.size(), 1U);
  EXPECT_EQ(left.news->gone.front().first, kMember);
  EXPECT_EQ(left.lost, std::vector<std::string>{"second"});
}

TEST_F(JobChannelTest, AMemberThatLostItsHubDecidesByItselfWhetherItGoesOn) {
  std::optional<bool> was_lost;
  member_->set_policy([&](const JobVerdict&, bool hub_is_lost) {
    was_lost = hub_is_lost;
    return kNext;
  });
  channel_.reset();
  turn_until([&] { return heard_by_member_.stop.has_value(); });
  member_->tell_ending({});
  EXPECT_EQ(was_lost, true);
  EXPECT_EQ(heard_by_member_.verdict->next, kNext);
  EXPECT_EQ(member_->release().link, nullptr);
}

TEST(SoloChannel, IsCompletedWhenTheWorkIsDone) {
  Heard heard;
  SoloChannel solo;
  solo.set_events(heard.events());
  solo.work_is_done();
  solo.tell_stop(server_failed(0));
  solo.tell_ending(ending_of(server_failed(0)));
  ASSERT_TRUE(heard.verdict);
  EXPECT_EQ(heard.verdict->first, StopCause{});
}

TEST(SoloChannel, KeepsTheReasonThatCameFirst) {
  Heard heard;
  SoloChannel solo;
  solo.set_events(heard.events());
  solo.tell_stop(server_failed(0));
  solo.work_is_done();
  solo.tell_ending(ending_of(server_failed(0)));
  ASSERT_TRUE(heard.verdict);
  EXPECT_EQ(heard.verdict->first.status, 9);
}

}  // namespace
}  // namespace paddle_launch
