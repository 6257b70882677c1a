// SPDX-License-Identifier: Apache-2.0
// Both ends of the session of a job of two nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/hub_session.h"
#include "launcher/channel/member_session.h"
#include "tests/unit/channel/far_pod.h"
#include "tests/unit/channel/heard.h"

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

inline OfferMessage offer_of(const std::string& host) {
  OfferMessage offer;
  offer.offer.host = host;
  return offer;
}

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
    hub_session_ = std::make_unique<HubSession>(std::move(hub_));
    hub_session_->begin(roster_, {{kMember, 1}});
    hub_session_->attend(heard_by_hub_, {});
    roster_.mine = 1;
    member_ =
        std::make_unique<MemberSession>(loop_, std::move(link), identity_of_tests().keep_alive);
    member_->begin(roster_, 0, {});
    member_->attend(heard_by_member_, {});
  }

  // Another round may follow the one that runs: by this end's word, `next`.
  static void let_another_follow(Session& session, Heard& heard,
                                 std::optional<NextRound> next = kNext) {
    heard.next = std::move(next);
    session.attend(heard, {.another_may_follow = true});
  }
  bool have_verdict() const { return heard_by_hub_.verdict && heard_by_member_.verdict; }

  static constexpr int kMember = 0;    // the hub's numbers
  static constexpr int kNewcomer = 1;  // of who comes next

  Roster roster_;
  Heard heard_by_hub_;
  Heard heard_by_member_;
  std::unique_ptr<HubSession> hub_session_;
  std::unique_ptr<MemberSession> member_;
};

}  // namespace paddle_launch
