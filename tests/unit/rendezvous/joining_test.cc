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

struct TellingNarrator final : Narrator {
  void waiting(const WaitingFacts& facts) override { names = facts.names; }
  void remark(const std::string& text) override { remarks.push_back(text); }

  std::vector<std::string> names{};
  std::vector<std::string> remarks{};
};

class JoiningTest : public WithHub, protected Hub::Listener {
 protected:
  void SetUp() override {
    hub_->listen(*this);
    connect();
  }

  void connect() {
    session_ =
        std::make_unique<MemberSession>(loop_, come()->give_link(), identity_of_tests().keep_alive);
    member_ = came_++;
  }

  void on_message(int member, const Message& message) override {
    heard_.push_back(message);
    const bool is_offer = std::holds_alternative<OfferMessage>(message);
    if (is_offer && answer_) return answer_(member);
    // As a hub does that ends because of it.
    if (std::holds_alternative<RefusalMessage>(message)) hub_->drop(member);
  }

  MeetingEnd join() {
    Joining joining(loop_, settings_, *session_, offer("n2", 1), narrator_);
    MeetingEnd end = end_of([&] { return joining.run(); });
    lost_ = joining.lost();
    return end;
  }

  JoiningSettings settings_{.timeout = std::chrono::hours(1)};
  std::unique_ptr<MemberSession> session_;
  TellingNarrator narrator_;
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
  session_->attend(heard, {});
  turn_until([&] { return heard.stop && heard.stop->text == "change"; });
}

TEST_F(JoiningTest, ARefusalIsThrownAsWhatItsStatusSays) {
  for (const int status : {0, 1, 75, 128 + SIGTERM}) {
    if (status != 0) connect();
    answer_ = [&](int member) {
      hub_->send(member, RefusalMessage{.status = status, .text = "because"});
    };
    const MeetingEnd end = join();
    EXPECT_EQ(end.status, status);
    EXPECT_EQ(end.text, "because");
    session_.reset();
    turn_until([&] { return !hub_->has_members(); });
  }
}

TEST_F(JoiningTest, WhatTheHubSaidBeforehandCounts) {
  hub_->send(member_, RefusalMessage{.status = 75, .text = "n3 was lost"});
  turn_until([&] { return !session_->link().unheard().empty(); });
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
  turn_until([&] { return !session_->link().unheard().empty(); });
  EXPECT_FALSE(join().met);
  EXPECT_EQ(lost_, kEndedWithoutAWord);
}

TEST_F(JoiningTest, AHubThatSaysNothingIsGivenUp) {
  settings_.timeout = milliseconds(1);
  EXPECT_FALSE(join().met);
  EXPECT_EQ(lost_, "it does not say anything");
}

TEST_F(JoiningTest, ASpareIsToldSoOnceAndWaitsAsLongAsItTakes) {
  settings_.timeout = milliseconds(500);
  answer_ = [&](int member) {
    hub_->send(member, WaitingMessage{0, 2, {}});
    loop_.after(milliseconds(2100), [this, member] { hub_->send(member, roster_message()); });
  };
  EXPECT_EQ(join().hosts(), (Hosts{"n1", "n2"}));
  EXPECT_EQ(narrator_.remarks, Hosts{"the job is running; this node waits for a place in it"});
}

TEST_F(JoiningTest, WhoIsWaitedForIsTold) {
  answer_ = [&](int member) { hub_->send(member, WaitingMessage{1, 3, {"n3"}}); };
  once([&] { return !narrator_.names.empty(); }, [&] { hub_->send(member_, roster_message()); });
  EXPECT_TRUE(join().met);
  EXPECT_EQ(narrator_.names, Hosts{"n3"});
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
