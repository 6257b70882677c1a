// SPDX-License-Identifier: Apache-2.0
// A member's side of the rounds after the first, with a hub that says what the test wants.
#include "launcher/rendezvous/joining.h"

#include <csignal>

#include <gtest/gtest.h>

#include "launcher/channel/packed_pods.h"
#include "tests/unit/channel/heard.h"
#include "tests/unit/rendezvous/gathering_hub.h"

namespace paddle_launch {
namespace {

using Hosts = std::vector<std::string>;
using std::chrono::milliseconds;

RosterMessage roster_message() {
  const std::vector<PodOffer> pods = {offer("n1").offer, offer("n2").offer};
  return {.mine = 1,
          .hub = 0,
          .packed_pods = pack_pods(pods, {}),
          .warnings = {"odd"},
          .payload = "payload",
          .round = {.number = 2, .restarts = 1}};
}

class JoiningTest : public WithHub {
 protected:
  void SetUp() override {
    hub_->set_events(
        {.message = [this](int member, const Message& message) { take(member, message); },
         .gone = {},
         .remark = {}});
    connect();
  }

  void connect() {
    connections_.link = come()->give_link();
    listen_for_the_next(connections_);
    member_ = came_++;
  }

  void take(int member, const Message& message) {
    heard_.push_back(message);
    const bool is_offer = std::holds_alternative<OfferMessage>(message);
    if (is_offer && answer_) return answer_(member);
    // As a hub does that ends because of it.
    if (std::holds_alternative<RefusalMessage>(message)) hub_->drop(member);
  }

  MeetingEnd join() {
    Joining joining(loop_, settings_, std::exchange(connections_, {}), offer("n2", 1));
    MeetingEnd end = end_of([&] { return joining.run(); });
    lost_ = joining.lost();
    return end;
  }

  JoiningSettings settings_{.timeout = std::chrono::hours(1)};
  Connections connections_;
  int came_ = 0;
  int member_ = 0;                   // the hub's number for us
  std::function<void(int)> answer_;  // to the offer
  std::vector<Message> heard_;       // by the hub
  std::string lost_;
};

TEST_F(JoiningTest, BringsItsOfferAndGetsTheRosterAndWhatWasSaidInOneBreathWithIt) {
  answer_ = [&](int member) {
    hub_->send(member, roster_message());
    hub_->send(member, StopMessage{{.kind = StopCause::Kind::NodesChange, .text = "change"}});
  };
  const MeetingEnd end = join();
  EXPECT_EQ(end.hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(end.met->roster.mine, 1U);
  EXPECT_EQ(end.met->round, roster_message().round);
  EXPECT_EQ(end.met->payload, "payload");
  EXPECT_EQ(end.met->warnings, Hosts{"odd"});
  EXPECT_EQ(heard_, std::vector<Message>{offer("n2", 1)});
  Heard heard;
  end.met->channel->attend(heard, {});
  turn_until([&] { return heard.stop && heard.stop->text == "change"; });
}

TEST_F(JoiningTest, ARefusalIsThrownAsWhatItsStatusSays) {
  for (const int status : {0, 1, 75, 128 + SIGTERM}) {
    if (!connections_.link) connect();
    answer_ = [&](int member) {
      hub_->send(member, RefusalMessage{.status = status, .text = "because"});
    };
    const MeetingEnd end = join();
    EXPECT_EQ(end.status, status);
    EXPECT_EQ(end.text, "because");
    turn_until([&] { return !hub_->has_members(); });
  }
}

TEST_F(JoiningTest, WhatTheHubSaidBeforehandCounts) {
  hub_->send(member_, RefusalMessage{.status = 75, .text = "n3 was lost"});
  turn_until([&] { return !connections_.news->messages.empty(); });
  const MeetingEnd end = join();
  EXPECT_EQ(end.status, 75);
  EXPECT_EQ(end.text, "n3 was lost");
  EXPECT_TRUE(heard_.empty());
}

TEST_F(JoiningTest, AHubThatGoesIsLost) {
  answer_ = [&](int member) { hub_->drop(member); };
  const MeetingEnd end = join();
  EXPECT_FALSE(end.met);
  EXPECT_EQ(end.status, -1);
  EXPECT_EQ(lost_, kEndedWithoutAWord);
}

TEST_F(JoiningTest, AHubThatWentBeforehandIsLost) {
  hub_->drop(member_);
  turn_until([&] { return !connections_.news->hub_is_gone.empty(); });
  EXPECT_FALSE(join().met);
  EXPECT_EQ(lost_, kEndedWithoutAWord);
}

TEST_F(JoiningTest, AHubThatSaysNothingIsGivenUp) {
  settings_.timeout = milliseconds(1);
  EXPECT_FALSE(join().met);
  EXPECT_EQ(lost_, "it does not say anything");
}

TEST_F(JoiningTest, ASpareIsToldSoOnceAndWaitsAsLongAsItTakes) {
  int told = 0;
  settings_.timeout = milliseconds(500);
  settings_.spare = [&] { ++told; };
  answer_ = [&](int member) {
    hub_->send(member, WaitingMessage{0, 2, {}});
    loop_.after(milliseconds(2100), [this, member] { hub_->send(member, roster_message()); });
  };
  EXPECT_EQ(join().hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(told, 1);
}

TEST_F(JoiningTest, WhoIsWaitedForIsTold) {
  std::vector<std::string> names;
  settings_.waiting = [&](const WaitingFacts& facts) { names = facts.names; };
  answer_ = [&](int member) { hub_->send(member, WaitingMessage{1, 3, {"n3"}}); };
  once([&] { return !names.empty(); }, [&] { hub_->send(member_, roster_message()); });
  EXPECT_TRUE(join().met);
  EXPECT_EQ(names, Hosts{"n3"});
}

TEST_F(JoiningTest, WhenItIsStoppedTheHubHearsWhy) {
  loop_.after(milliseconds(20), [this] {
    loop_.end_wait(std::make_exception_ptr(StoppedBySignal(SIGTERM, "stopped by SIGTERM")));
  });
  const MeetingEnd end = join();
  EXPECT_EQ(end.status, 128 + SIGTERM);
  ASSERT_FALSE(heard_.empty());
  EXPECT_EQ(heard_.back(),
            Message(RefusalMessage{.status = 143, .node = -1, .text = "n2: stopped by SIGTERM"}));
}

}  // namespace
}  // namespace paddle_launch
