// SPDX-License-Identifier: Apache-2.0
// Both ends of a job's session over a real socket of the loopback interface, on one loop.
#include "launcher/channel/session.h"

#include <gtest/gtest.h>

#include "launcher/channel/solo_session.h"
#include "tests/unit/channel/two_ends.h"

namespace paddle_launch {
namespace {

class SessionTest : public TwoEnds {};

TEST_F(SessionTest, AServerThatFailsStopsTheJob) {
  member_->tell_stop(server_failed(1));
  turn_until([&] { return heard_by_hub_.stop.has_value(); });
  hub_session_->work_is_done();  // too late: there is a reason already
  hub_session_->tell_ending({});
  member_->tell_ending(ending_of(server_failed(1)));
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->first.status, 9);
  EXPECT_EQ(heard_by_hub_.verdict->aborted, (std::vector<ProcessName>{{Role::Server, 0}}));
  EXPECT_EQ(heard_by_member_.verdict->first.status, 9);
}

TEST_F(SessionTest, ANodeThatDoesNotShowTheReportLearnsWhoWasFirst) {
  PodEnding ending = ending_of(server_failed(0));
  ending.failures.front().log_excerpt = "the end of a log";
  ending.failures.push_back(ending.failures.front());
  hub_session_->tell_stop(server_failed(0));
  hub_session_->tell_ending(ending);
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->failures, ending.failures);
  ASSERT_EQ(heard_by_member_.verdict->failures.size(), 1U);
  EXPECT_EQ(heard_by_member_.verdict->failures.front().role, Role::Server);
  EXPECT_EQ(heard_by_member_.verdict->failures.front().log_excerpt, "");
}

TEST_F(SessionTest, WhatServersDoWhenTheWorkIsDoneIsNoFailure) {
  hub_session_->work_is_done();
  member_->tell_stop(server_failed(1));
  member_->tell_ending(ending_of(server_failed(1)));
  hub_session_->tell_stop(server_failed(0));
  hub_session_->tell_ending(ending_of(server_failed(0)));
  turn_until([&] { return have_verdict(); });
  for (const Heard* heard : {&heard_by_hub_, &heard_by_member_}) {
    EXPECT_FALSE(heard->stop);
    EXPECT_EQ(heard->verdict->first, StopCause{});
    EXPECT_TRUE(heard->verdict->aborted.empty());
  }
}

TEST_F(SessionTest, ANodeThatIsLostWhenTheWorkIsDoneIsOnlyRemarked) {
  hub_session_->work_is_done();
  hub_session_->tell_ending({});
  EXPECT_FALSE(heard_by_hub_.verdict);
  member_.reset();
  turn_until([&] { return heard_by_hub_.verdict.has_value(); });
  EXPECT_FALSE(heard_by_hub_.stop);
  EXPECT_EQ(heard_by_hub_.verdict->first, StopCause{});
  EXPECT_EQ(heard_by_hub_.remarks,
            std::vector<std::string>{"node n2 was lost after all workers had finished"});
}

TEST_F(SessionTest, AHubThatIsLostWhenTheWorkIsDoneIsOnlyRemarked) {
  member_->work_is_done();
  member_->tell_stop(server_failed(1));
  hub_session_.reset();
  turn_until([&] { return !heard_by_member_.remarks.empty(); });
  EXPECT_EQ(heard_by_member_.remarks.front(),
            "node n1, which holds the job together, was lost after all workers had finished");
  EXPECT_FALSE(heard_by_member_.stop);
  member_->tell_ending(ending_of(server_failed(1)));
  ASSERT_TRUE(heard_by_member_.verdict);
  EXPECT_EQ(heard_by_member_.verdict->first, StopCause{});
}

TEST_F(SessionTest, AHubThatIsLostBeforeIsAReasonToStop) {
  hub_session_.reset();
  turn_until([&] { return heard_by_member_.stop.has_value(); });
  EXPECT_EQ(heard_by_member_.stop->kind, StopCause::Kind::PodLost);
  member_->tell_ending({});
  ASSERT_TRUE(heard_by_member_.verdict);
  EXPECT_EQ(heard_by_member_.verdict->first.status, 75);
}

TEST_F(SessionTest, ImpatienceIsHeardEvenWhenTheWorkIsDone) {
  hub_session_->work_is_done();
  member_->work_is_done();
  hub_session_->tell_kill();
  member_->tell_kill();
  turn_until([&] { return heard_by_hub_.kills > 0 && heard_by_member_.kills > 0; });
}

TEST_F(SessionTest, ANewcomerToARunningRoundIsRefused) {
  let_another_follow(*hub_session_, heard_by_hub_);
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<RefusalMessage>() != nullptr; });
  EXPECT_EQ(newcomer->heard<RefusalMessage>()->status, 1);
  EXPECT_TRUE(hub_session_->newcomers().empty());
}

TEST_F(SessionTest, ANewcomerToARoundThatEndsIsHandedOnToTheNext) {
  let_another_follow(*hub_session_, heard_by_hub_);
  hub_session_->tell_stop(server_failed(0));
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<WaitingMessage>() != nullptr; });
  EXPECT_EQ(*newcomer->heard<WaitingMessage>(), (WaitingMessage{1, 2, {}}));
  hub_session_->decide_now();
  EXPECT_EQ(hub_session_->take_spares(),
            (std::map<int, OfferMessage>{{kNewcomer, offer_of("n3")}}));
}

TEST_F(SessionTest, ANewcomerThatWentIsForgotten) {
  let_another_follow(*hub_session_, heard_by_hub_);
  hub_session_->tell_stop(server_failed(0));
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<WaitingMessage>() != nullptr; });
  newcomer->leave();
  turn_until([&] { return !at_hub_->has(kNewcomer); });
  hub_session_->decide_now();
  EXPECT_TRUE(hub_session_->take_spares().empty());
}

TEST_F(SessionTest, TheClockOfTheOneThatGaveTheReasonIsAskedToo) {
  EXPECT_FALSE(at_hub_->clock_of(kMember));
  member_->tell_stop(server_failed(1));
  turn_until([&] { return at_hub_->clock_of(kMember).has_value(); });
  EXPECT_FALSE(heard_by_member_.stop) << "it knows";
}

TEST_F(SessionTest, ANewcomerIsToldWhenThereIsNoNextRound) {
  let_another_follow(*hub_session_, heard_by_hub_, std::nullopt);
  hub_session_->tell_stop(server_failed(0));
  const auto newcomer = come();
  newcomer->say(offer_of("n3"));
  turn_until([&] { return newcomer->heard<WaitingMessage>() != nullptr; });
  hub_session_->decide_now();
  turn_until([&] { return newcomer->heard<RefusalMessage>() != nullptr; });
  EXPECT_EQ(newcomer->heard<RefusalMessage>()->status, 1);
}

TEST_F(SessionTest, WhoeverAttendsSaysWhichNewcomersMayWait) {
  heard_by_hub_.turned_away = "n4";
  hub_session_->attend(heard_by_hub_, {.nodes_may_join = true});
  const auto fitting = come();
  const auto other = come();
  fitting->say(offer_of("n3"));
  other->say(offer_of("n4"));
  turn_until([&] { return fitting->heard<WaitingMessage>() && other->heard<RefusalMessage>(); });
  EXPECT_EQ(fitting->heard<WaitingMessage>()->missing, 0);
  EXPECT_EQ(other->heard<RefusalMessage>()->text, "not of this job");
  EXPECT_EQ(hub_session_->newcomers(), std::vector<OfferMessage>{offer_of("n3")});
  hub_session_->decide_now();
  turn_until([&] { return fitting->heard<RefusalMessage>() != nullptr; });
  EXPECT_EQ(fitting->heard<RefusalMessage>()->status, 0);
  turn_until([&] { return hub_session_->newcomers().empty(); });
}

TEST_F(SessionTest, WhoeverIsInterruptedAfterItsWorkWasAskedToEnd) {
  hub_session_->tell_ending({});
  EXPECT_TRUE(hub_session_->has_endings());
  hub_session_->tell_stop(interrupted(0));
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->asked_to_end, 1);
  EXPECT_EQ(heard_by_member_.verdict->asked_to_end, 1);
}

TEST_F(SessionTest, AMemberThatFailedAndIsInterruptedAfterItsEndWasAskedToEnd) {
  let_another_follow(*hub_session_, heard_by_hub_, std::nullopt);
  member_->tell_stop(server_failed(1));
  member_->tell_ending(ending_of(server_failed(1)));
  member_->tell_stop(interrupted(1));
  member_->tell_kill();
  turn_until([&] { return heard_by_hub_.kills > 0; });
  hub_session_->tell_ending({});
  ASSERT_TRUE(heard_by_hub_.asked);
  EXPECT_EQ(heard_by_hub_.asked->asked_to_end, 1);
  EXPECT_EQ(heard_by_hub_.verdict->first.status, 9);
}

TEST_F(SessionTest, AVerdictWithAnotherRoundLeavesBothEndsForIt) {
  let_another_follow(*hub_session_, heard_by_hub_);
  hub_session_->tell_ending({});
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  EXPECT_EQ(heard_by_hub_.verdict->next, kNext);
  EXPECT_EQ(heard_by_member_.verdict->next, kNext);
  member_->tell(offer_of("n2"));
  turn_until([&] { return !at_hub_->unheard().empty(); });
  EXPECT_EQ(std::get<Message>(at_hub_->unheard().front().what), Message(offer_of("n2")));
  EXPECT_EQ(hub_session_->members(), (std::map<int, int>{{kMember, 1}}));
  EXPECT_FALSE(hub_session_->is_called_off(false));
  EXPECT_TRUE(member_->has_hub());
  EXPECT_FALSE(member_->is_called_off(true));
  at_hub_->send(kMember, RefusalMessage{.text = "no"});
  turn_until([&] { return member_->is_called_off(true); });
  member_.reset();
  turn_until([&] { return hub_session_->is_called_off(false); });
  EXPECT_FALSE(hub_session_->is_called_off(true)) << "somebody else may come";
}

TEST_F(SessionTest, WhoCannotGoOnWaitsUntilTheOtherKnows) {
  let_another_follow(*hub_session_, heard_by_hub_);
  hub_session_->tell_ending({});
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  once([this] { return member_->is_called_off(true); }, [this] { member_.reset(); });
  hub_session_->call_off(143, "stopped");
  EXPECT_EQ(member_, nullptr);
}

TEST_F(SessionTest, TheNextRoundBeginsAsTheFirstDid) {
  let_another_follow(*hub_session_, heard_by_hub_);
  for (int round = 0; round < 200; ++round) {
    hub_session_->tell_ending({});
    member_->tell_ending({});
    turn_until([&] { return have_verdict(); });
    EXPECT_EQ(heard_by_hub_.verdict->first, StopCause{});
    heard_by_hub_.verdict.reset();
    heard_by_member_.verdict.reset();
    member_->tell(offer_of("n2"));  // for a gathering
    turn_until([&] { return !at_hub_->unheard().empty(); });
    Hub::Listener nobody;
    at_hub_->listen(nobody);
    at_hub_->stop_listening();
    roster_.mine = 0;
    hub_session_->begin(roster_, {{kMember, 1}});
    roster_.mine = 1;
    member_->begin(roster_, 0, {});
    member_->tell_stop(server_failed(1));  // before the hub attends
    turn_until([&] { return !at_hub_->unheard().empty(); });
    hub_session_->attend(heard_by_hub_, {.another_may_follow = true});
    member_->attend(heard_by_member_, {.another_may_follow = true});
    EXPECT_EQ(heard_by_hub_.stop->status, 9);
    heard_by_hub_.stop.reset();
    hub_session_->tell_ending({});
    member_->tell_ending(ending_of(server_failed(1)));
    turn_until([&] { return have_verdict(); });
    EXPECT_EQ(heard_by_member_.verdict->first.status, 9);
    heard_by_hub_.verdict.reset();
    heard_by_member_.verdict.reset();
    roster_.mine = 0;
    hub_session_->begin(roster_, {{kMember, 1}});
    roster_.mine = 1;
    member_->begin(roster_, 0, {});
    hub_session_->attend(heard_by_hub_, {.another_may_follow = true});
    member_->attend(heard_by_member_, {.another_may_follow = true});
  }
}

TEST_F(SessionTest, TheNextRoundHearsWhatAMemberSaidAfterTheVerdictAndThatItWent) {
  let_another_follow(*hub_session_, heard_by_hub_);
  hub_session_->tell_ending({});
  member_->tell_ending({});
  turn_until([&] { return have_verdict(); });
  member_->tell(RefusalMessage{.status = 143, .text = "stopped"});
  member_.reset();
  turn_until([&] { return !at_hub_->has_members(); });
  EXPECT_TRUE(hub_session_->is_called_off(true));
  const auto& unheard = at_hub_->unheard();
  ASSERT_EQ(unheard.size(), 2U);
  EXPECT_EQ(std::get<RefusalMessage>(std::get<Message>(unheard[0].what)).status, 143);
  EXPECT_EQ(unheard[1].member, kMember);
  EXPECT_TRUE(std::holds_alternative<std::string>(unheard[1].what)) << "why it went";
}

TEST_F(SessionTest, AMemberThatLostItsHubDecidesByItselfWhetherItGoesOn) {
  let_another_follow(*member_, heard_by_member_);
  hub_session_.reset();
  turn_until([&] { return heard_by_member_.stop.has_value(); });
  member_->tell_ending({});
  EXPECT_TRUE(heard_by_member_.asked_without_hub);
  EXPECT_EQ(heard_by_member_.verdict->next, kNext);
  EXPECT_FALSE(member_->has_hub());
}

TEST(SoloSession, IsCompletedWhenTheWorkIsDone) {
  Heard heard;
  SoloSession solo;
  solo.attend(heard, {});
  solo.work_is_done();
  solo.tell_stop(server_failed(0));
  solo.tell_ending(ending_of(server_failed(0)));
  ASSERT_TRUE(heard.verdict);
  EXPECT_EQ(heard.verdict->first, StopCause{});
}

TEST(SoloSession, KeepsTheReasonThatCameFirst) {
  Heard heard;
  SoloSession solo;
  solo.attend(heard, {});
  solo.tell_stop(server_failed(0));
  solo.work_is_done();
  solo.tell_ending(ending_of(server_failed(0)));
  ASSERT_TRUE(heard.verdict);
  EXPECT_EQ(heard.verdict->first.status, 9);
}

}  // namespace
}  // namespace paddle_launch
