// SPDX-License-Identifier: Apache-2.0
// Members whose connection to the hub is reset, and who come back over another, or try to.
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "tests/unit/channel/far_pod.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::minutes kLong{1};

// As when the network was gone for too long: nothing is closed in good order.
void reset(FarPod& pod) {
  const auto link = pod.give_link();
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(link->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

class HubReturningTest : public WithHub, protected Hub::Listener {
 protected:
  void on_message(int member, const Message& /*message*/) override { heard_.push_back(member); }
  void on_gone(int member, const std::string& /*why*/) override { gone_.push_back(member); }
  void on_remark(const std::string& line) override { remarks_.push_back(line); }
  void on_away(int member, const std::string& /*why*/) override { away_.push_back(member); }
  void on_back(int member) override { back_.push_back(member); }

  void SetUp() override {
    hub_->listen(*this);
    first_ = come();
    second_ = come();
    ticket_ = hub_->give_ticket(0);
    other_ticket_ = hub_->give_ticket(1);
  }

  std::unique_ptr<FarPod> come_with(const Ticket& ticket) {
    auto pod = std::make_unique<FarPod>(loop_, port_);
    pod->say(ReturnMessage{ticket});
    return pod;
  }

  void lose_first() {
    hub_->hold_places(kLong);
    reset(*first_);
    turn_until([&] { return !away_.empty(); });
  }

  void expect_refused(const Ticket& ticket) {
    const auto thief = come_with(ticket);
    turn_until([&] { return thief->heard<RefusalMessage>() != nullptr; });
    EXPECT_TRUE(back_.empty());
  }

  std::unique_ptr<FarPod> first_;
  std::unique_ptr<FarPod> second_;
  Ticket ticket_;
  Ticket other_ticket_;
  std::vector<int> heard_;
  std::vector<int> gone_;
  std::vector<int> away_;
  std::vector<int> back_;
  std::vector<std::string> remarks_;
};

TEST_F(HubReturningTest, WithItsTicketItIsTheSameMember) {
  lose_first();
  EXPECT_FALSE(hub_->has(0));
  EXPECT_TRUE(hub_->is_away(0));
  hub_->tell_returning(encode(StopMessage{}));
  hub_->tell_returning(encode(KillMessage{}));
  const auto again = come_with(ticket_);
  again->say(EndingMessage{});
  turn_until([&] { return !heard_.empty() && again->messages.size() == 2; });
  EXPECT_EQ(heard_, std::vector<int>{0});
  EXPECT_EQ(back_, std::vector<int>{0});
  EXPECT_EQ(again->messages, (std::vector<Message>{StopMessage{}, KillMessage{}}));
  hub_->send(0, WaitingMessage{});
  turn_until([&] { return again->heard<WaitingMessage>() != nullptr; });
  EXPECT_TRUE(gone_.empty());
}

TEST_F(HubReturningTest, ItMayBeBackBeforeTheHubKnowsThatItWas) {
  const auto again = come_with(ticket_);
  turn_until([&] { return first_->is_gone; });
  hub_->send(0, KillMessage{});
  turn_until([&] { return again->heard<KillMessage>() != nullptr; });
  EXPECT_TRUE(gone_.empty());
  EXPECT_EQ(hub_->members(), 2U);
}

TEST_F(HubReturningTest, NobodyElseTakesItsPlace) {
  lose_first();
  expect_refused({.member = 0, .key = std::string(kKeyBytes, 'x')});
  expect_refused({.member = 0, .key = ""});
  expect_refused({.member = 0, .key = other_ticket_.key});
  expect_refused({.member = 7, .key = ticket_.key});
  EXPECT_TRUE(hub_->is_away(0));
  ASSERT_FALSE(remarks_.empty());
  EXPECT_NE(remarks_.front().find("has no ticket for it"), std::string::npos);
  const auto again = come_with(ticket_);
  turn_until([&] { return back_ == std::vector<int>{0}; });
}

TEST_F(HubReturningTest, AMemberThatIsHereKeepsItsPlace) {
  hub_->hold_places(kLong);
  expect_refused({.member = 1, .key = ticket_.key});
  EXPECT_FALSE(second_->is_gone);
  hub_->send(1, KillMessage{});
  turn_until([&] { return second_->heard<KillMessage>() != nullptr; });
}

TEST_F(HubReturningTest, WhoClosesItsConnectionIsGoneAtOnce) {
  hub_->hold_places(kLong);
  first_->leave();
  turn_until([&] { return gone_ == std::vector<int>{0}; });
  expect_refused(ticket_);
}

TEST_F(HubReturningTest, WhileNothingIsHeldWhoIsLostIsGone) {
  reset(*first_);
  turn_until([&] { return gone_ == std::vector<int>{0}; });
  EXPECT_TRUE(away_.empty());
}

TEST_F(HubReturningTest, WhoDoesNotComeInTimeIsGone) {
  hub_->hold_places(std::chrono::milliseconds(300));
  reset(*first_);
  turn_until([&] { return gone_ == std::vector<int>{0}; });
  EXPECT_EQ(away_, std::vector<int>{0});
  expect_refused(ticket_);
}

TEST_F(HubReturningTest, TicketsAreForOneRound) {
  lose_first();
  hub_->void_tickets();
  expect_refused(ticket_);
}

TEST_F(HubReturningTest, WhoMakesItsOfferNeedsItsTicketNoMore) {
  hub_->hold_places(kLong);
  first_->say(OfferMessage{});
  turn_until([&] { return !heard_.empty(); });
  reset(*first_);
  turn_until([&] { return gone_ == std::vector<int>{0}; });
}

}  // namespace
}  // namespace paddle_launch
