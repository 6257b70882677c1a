// SPDX-License-Identifier: Apache-2.0
// Both ends of the channel of a job of two nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/hub_channel.h"
#include "launcher/channel/member_channel.h"
#include "tests/unit/channel/far_pod.h"

namespace paddle_launch {

inline StopCause server_failed(int node) {
  return {.kind = StopCause::Kind::WorkerFailed,
          .node = node,
          .status = 9,
          .text = "server 0 failed: exit code 9",
          .at = EventLoop::Clock::now()};
}

inline PodEnding ending_of(const StopCause& cause) {
  PodEnding ending;
  ending.own = cause;
  FailureRecord failure;
  failure.role = Role::Server;
  ending.failures = {failure};
  return ending;
}

inline StopCause interrupted(int node) {
  return {.kind = StopCause::Kind::Interrupted,
          .node = node,
          .status = 143,
          .text = "stopped by SIGTERM",
          .at = EventLoop::Clock::now()};
}

inline const NextRound kNext{.state = {.number = 1, .restarts = 1}};

inline JobChannel::Policy once_more() {
  return [](const JobVerdict&, bool) { return kNext; };
}

inline OfferMessage offer_of(const std::string& host) {
  OfferMessage offer;
  offer.offer.host = host;
  return offer;
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

class TwoEnds : public WithHub {
 protected:
  void SetUp() override {
    roster_.pods.resize(2);
    for (PodOffer& pod : roster_.pods) {
      pod.roles = {{.role = Role::Server, .stage = 1, .index = -1, .port = 6170},
                   {.role = Role::Trainer, .stage = 1, .index = -1, .port = 6171}};
    }
    roster_.pods[0].name = "first";
    roster_.pods[0].host = "n1";
    roster_.pods[1].name = "second";
    roster_.pods[1].host = "n2";
    std::unique_ptr<Link> link = come()->give_link();
    channel_ =
        std::make_unique<HubChannel>(std::move(hub_), roster_, std::map<int, int>{{kMember, 1}});
    channel_->set_events(heard_by_hub_.events());
    roster_.mine = 1;
    member_ = std::make_unique<MemberChannel>(std::move(link), roster_, 0, std::vector<Message>{});
    member_->set_events(heard_by_member_.events());
  }

  bool have_verdict() const { return heard_by_hub_.verdict && heard_by_member_.verdict; }

  static constexpr int kMember = 0;    // the hub's numbers
  static constexpr int kNewcomer = 1;  // of who comes next

  Roster roster_;
  Heard heard_by_hub_;
  Heard heard_by_member_;
  std::unique_ptr<HubChannel> channel_;
  std::unique_ptr<MemberChannel> member_;
};

}  // namespace paddle_launch
