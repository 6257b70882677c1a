// SPDX-License-Identifier: Apache-2.0
// Both ends of a job's channel over a real socket of the loopback interface, on one loop.
#include "launcher/channel/job_channel.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "launcher/channel/dialer.h"
#include "launcher/channel/hub_channel.h"
#include "launcher/channel/member_channel.h"
#include "launcher/channel/solo_channel.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;

constexpr std::uint32_t kLoopback = 0x7F000001;

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

StopCause server_failed(int node) {
  return {.kind = Kind::WorkerFailed,
          .node = node,
          .status = 9,
          .text = "server 0 failed: exit code 9",
          .at = EventLoop::Clock::now()};
}

PodEnding ending_of(const StopCause& cause) {
  PodEnding ending;
  ending.own = cause;
  FailureRecord failure;
  failure.role = Role::Server;
  ending.failures = {failure};
  return ending;
}

// What one end heard.
struct Heard {
  std::optional<StopCause> stop{};
  int kills = 0;
  std::optional<JobVerdict> verdict{};
  std::vector<std::string> remarks{};

  JobChannel::Events events() {
    return {.stop = [this](const StopCause& cause) { stop = cause; },
            .kill = [this] { ++kills; },
            .verdict = [this](const JobVerdict& told) { verdict = told; },
            .remark = [this](const std::string& line) { remarks.push_back(line); },
            .other = {}};
  }
};

class JobChannelTest : public testing::Test {
 protected:
  JobChannelTest() {
    roster_.pods.resize(2);
    roster_.pods[0].host = "n1";
    roster_.pods[1].host = "n2";
    for (PodOffer& pod : roster_.pods) {
      pod.roles = {{.role = Role::Server, .stage = 1, .index = -1, .port = 6170},
                   {.role = Role::Trainer, .stage = 1, .index = -1, .port = 6171}};
    }
  }

  void SetUp() override {
    const ChannelIdentity identity{.secret = job_secret("token", "train.py"),
                                   .card = {"0.1.0", "ann", "train.py", "n1", ""}};
    UniqueFd listener = listen_on(kLoopback, 0, 8);
    const int port = port_of(listener.get());
    auto hub = std::make_unique<Hub>(loop_, std::move(listener), identity);
    std::optional<int> id;
    hub->set_events(
        {.message = [&](int who, const Message&) { id = who; }, .gone = {}, .remark = {}});
    std::unique_ptr<Link> link;
    const Dialer dialer(loop_, identity, {{kLoopback, port}}, {},
                        {.found = [&](std::unique_ptr<Link> found) { link = std::move(found); },
                         .failed = [](const DialFailure& failure) { FAIL() << failure.why; }});
    turn_until([&] { return link != nullptr; });
    link->set_events(
        {.proved = [] {}, .message = [](const Message&) {}, .ended = [](const LinkEnd&) {}});
    link->send(KillMessage{});
    turn_until([&] { return id.has_value(); });
    hub_ =
        std::make_unique<HubChannel>(loop_, std::move(hub), roster_, std::map<int, int>{{*id, 1}});
    hub_->set_events(at_hub_.events());
    roster_.mine = 1;
    member_ = std::make_unique<MemberChannel>(std::move(link), roster_, 0, std::vector<Message>{});
    member_->set_events(at_member_.events());
  }

  // Turns the loop until the condition holds.
  void turn_until(const std::function<bool()>& condition) {
    const auto deadline = EventLoop::Clock::now() + std::chrono::seconds(30);
    while (!condition() && EventLoop::Clock::now() < deadline) {
      Alarm nudge(loop_);
      nudge.set(std::chrono::milliseconds(5), [this] { loop_.stop(); });
      loop_.run();
    }
    ASSERT_TRUE(condition());
  }

  EventLoop loop_;
  Roster roster_;
  Heard at_hub_;
  Heard at_member_;
  std::unique_ptr<HubChannel> hub_;
  std::unique_ptr<MemberChannel> member_;
};

TEST_F(JobChannelTest, AServerThatFailsStopsTheJob) {
  member_->tell_stop(server_failed(1));
  turn_until([&] { return at_hub_.stop.has_value(); });
  hub_->work_is_done();  // too late: there is a reason already
  hub_->tell_ending({});
  member_->tell_ending(ending_of(server_failed(1)));
  turn_until([&] { return at_hub_.verdict && at_member_.verdict; });
  EXPECT_EQ(at_hub_.verdict->first.status, 9);
  EXPECT_EQ(at_hub_.verdict->aborted, (std::vector<ProcessName>{{Role::Server, 0}}));
  EXPECT_EQ(at_member_.verdict->first.status, 9);
}

TEST_F(JobChannelTest, WhatServersDoWhenTheWorkIsDoneIsNoFailure) {
  hub_->work_is_done();
  member_->tell_stop(server_failed(1));
  member_->tell_ending(ending_of(server_failed(1)));
  hub_->tell_stop(server_failed(0));
  hub_->tell_ending(ending_of(server_failed(0)));
  turn_until([&] { return at_hub_.verdict && at_member_.verdict; });
  for (const Heard* heard : {&at_hub_, &at_member_}) {
    EXPECT_FALSE(heard->stop);
    EXPECT_EQ(heard->verdict->first, StopCause{});
    EXPECT_TRUE(heard->verdict->aborted.empty());
  }
}

TEST_F(JobChannelTest, ANodeThatIsLostWhenTheWorkIsDoneIsOnlyRemarked) {
  hub_->work_is_done();
  hub_->tell_ending({});
  EXPECT_FALSE(at_hub_.verdict);
  member_.reset();
  turn_until([&] { return at_hub_.verdict.has_value(); });
  EXPECT_FALSE(at_hub_.stop);
  EXPECT_EQ(at_hub_.verdict->first, StopCause{});
  EXPECT_EQ(at_hub_.remarks,
            std::vector<std::string>{"node n2 was lost after all workers had finished"});
}

TEST_F(JobChannelTest, AHubThatIsLostWhenTheWorkIsDoneIsOnlyRemarked) {
  member_->work_is_done();
  member_->tell_stop(server_failed(1));
  hub_.reset();
  turn_until([&] { return !at_member_.remarks.empty(); });
  EXPECT_EQ(at_member_.remarks.front(),
            "node n1, which holds the job together, was lost after all workers had finished");
  EXPECT_FALSE(at_member_.stop);
  member_->tell_ending(ending_of(server_failed(1)));
  ASSERT_TRUE(at_member_.verdict);
  EXPECT_EQ(at_member_.verdict->first, StopCause{});
}

TEST_F(JobChannelTest, AHubThatIsLostBeforeIsAReasonToStop) {
  hub_.reset();
  turn_until([&] { return at_member_.stop.has_value(); });
  EXPECT_EQ(at_member_.stop->kind, Kind::PodLost);
  member_->tell_ending({});
  ASSERT_TRUE(at_member_.verdict);
  EXPECT_EQ(at_member_.verdict->first.status, 75);
}

TEST_F(JobChannelTest, ImpatienceIsHeardEvenWhenTheWorkIsDone) {
  hub_->work_is_done();
  member_->work_is_done();
  hub_->tell_kill();
  member_->tell_kill();
  turn_until([&] { return at_hub_.kills > 0 && at_member_.kills > 0; });
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
