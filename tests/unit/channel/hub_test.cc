// SPDX-License-Identifier: Apache-2.0
// Hub, dialer and links over real sockets of the loopback interface, all on one loop.
#include "launcher/channel/hub.h"

#include <sys/socket.h>

#include <gtest/gtest.h>

#include "launcher/channel/dialer.h"
#include "launcher/channel/message.h"
#include "launcher/os/event_loop.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

ChannelIdentity identity(const std::string& job = "train.py") {
  return {.secret = job_secret("token", job), .greeting = {"0.1.0", "ann", job, "n1"}};
}

class HubTest : public testing::Test, protected Hub::Listener {
 protected:
  void on_message(int member, const Message& message) override {
    messages_.emplace_back(member, message);
  }
  void on_gone(int member, const std::string& /*why*/) override { gone_.push_back(member); }
  void on_remark(const std::string& line) override { remarks_.push_back(line); }

  HubTest() {
    UniqueFd listener = listen_on(kLoopback, 0, 512);
    port_ = local_port(listener.get());
    hub_ = std::make_unique<Hub>(loop_, std::move(listener), identity());
    hub_->listen(*this);
  }

  // Turns the loop until the condition holds.
  void turn_until(const std::function<bool()>& condition) {
    const auto deadline = EventLoop::Clock::now() + std::chrono::seconds(30);
    while (!run_until(loop_, std::chrono::milliseconds(20), condition) &&
           EventLoop::Clock::now() < deadline) {
    }
    ASSERT_TRUE(condition());
  }

  std::unique_ptr<Link> join(const ChannelIdentity& who) {
    std::unique_ptr<Link> joined;
    bool failed = false;
    Dialer dialer(loop_, who, {{kLoopback, port_}}, {},
                  {.found =
                       [&](std::unique_ptr<Link> link) {
                         joined = std::move(link);
                         joined->listen(
                             [this](Message message) { received_.push_back(std::move(message)); },
                             [this](const LinkEnd&) { ++ended_; });
                       },
                   .failed =
                       [&](const DialFailure& failure) {
                         failure_ = failure;
                         failed = true;
                       }});
    turn_until([&] { return joined != nullptr || failed; });
    return joined;
  }

  // A connection that knows nothing of our protocol.
  UniqueFd stranger(const std::string& bytes) {
    UniqueFd socket = begin_connect(kLoopback, port_);
    turn_until([&] { return connect_result(socket.get()) == 0; });
    EXPECT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return socket;
  }

  EventLoop loop_;
  int port_ = 0;
  std::unique_ptr<Hub> hub_;
  std::vector<std::pair<int, Message>> messages_;
  std::vector<int> gone_;
  std::vector<std::string> remarks_;
  std::vector<Message> received_;
  int ended_ = 0;
  DialFailure failure_;
};

TEST_F(HubTest, CarriesMessagesBothWays) {
  const auto link = join(identity());
  ASSERT_TRUE(link);
  link->send(KillMessage{});
  turn_until([&] { return !messages_.empty(); });
  EXPECT_TRUE(std::holds_alternative<KillMessage>(messages_.front().second));
  hub_->send(messages_.front().first, RefusalMessage{.status = 1, .node = 2, .text = "no"});
  turn_until([&] { return !received_.empty(); });
  EXPECT_EQ(std::get<RefusalMessage>(received_.front()).text, "no");
}

TEST_F(HubTest, NoticesAtOnceWhenAMemberIsGone) {
  auto link = join(identity());
  link->send(KillMessage{});
  turn_until([&] { return !messages_.empty(); });
  link.reset();
  turn_until([&] { return !gone_.empty(); });
  EXPECT_EQ(gone_.front(), messages_.front().first);
  EXPECT_FALSE(hub_->has_members());
}

TEST_F(HubTest, MeasuresAMembersClock) {
  const auto link = join(identity());
  link->send(clocks_now());
  link->send(KillMessage{});
  turn_until([&] { return !messages_.empty(); });
  const auto clock = hub_->clock_of(messages_.front().first);
  ASSERT_TRUE(clock);
  const auto now = EventLoop::Clock::now();
  const auto apart = clock->ours(now) - now;
  EXPECT_LE(std::chrono::abs(apart), clock->error(now));
}

TEST_F(HubTest, AMemberOfAnotherJobLearnsWhoseHubItMetAndIsNotCalledAStranger) {
  EXPECT_FALSE(join(identity("other.py")));
  ASSERT_EQ(failure_.other_jobs.size(), 1U);
  EXPECT_EQ(failure_.other_jobs.front().greeting.job, "train.py");
  EXPECT_TRUE(remarks_.empty());
  EXPECT_FALSE(hub_->has_members());
}

TEST_F(HubTest, GarbageOversizeAndWebBrowsersAreTurnedAwayWithOneLine) {
  const UniqueFd web = stranger("GET / HTTP/1.1\r\n\r\n");
  turn_until([&] { return !remarks_.empty(); });
  const UniqueFd garbage = stranger(framed("\x01\x02\x03"));
  const UniqueFd oversize = stranger(std::string("\xff\xff\xff\xff", 4));
  turn_until([&] { return remarks_.size() >= 2; });
  EXPECT_NE(remarks_.front().find("stranger at 127.0.0.1:"), std::string::npos);
  EXPECT_TRUE(join(identity()));
}

TEST_F(HubTest, SilentStrangersGiveWayToThoseWhoCanProveThemselves) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(stranger(""));
  const auto link = join(identity());
  ASSERT_TRUE(link);
  link->send(KillMessage{});
  turn_until([&] { return !messages_.empty(); });
}

TEST_F(HubTest, AChangedFrameEndsTheLinkAndNothingElse) {
  const auto honest = join(identity());
  auto link = join(identity());
  link->send(KillMessage{});
  turn_until([&] { return !messages_.empty(); });
  const std::string forged = framed(std::string(40, 'x'));
  ASSERT_GT(send(link->fd(), forged.data(), forged.size(), MSG_NOSIGNAL), 0);
  turn_until([&] { return !gone_.empty(); });
  honest->send(KillMessage{});
  turn_until([&] { return messages_.size() == 2; });
}

TEST(Dialer, TellsWhatItTried) {
  EventLoop loop;
  const int port = [] {
    const UniqueFd listener = listen_on(kLoopback, 0, 1);
    return local_port(listener.get());
  }();
  std::optional<DialFailure> failure;
  const Dialer dialer(loop, identity(), {{kLoopback, port}}, {},
                      {.found = [](std::unique_ptr<Link>) { FAIL(); },
                       .failed = [&](const DialFailure& what) { failure = what; }});
  loop.run_until([&] { return failure.has_value(); });
  EXPECT_EQ(failure->why, "connection refused");
}

}  // namespace
}  // namespace paddle_launch
