// SPDX-License-Identifier: Apache-2.0
// A member's part in a meeting when it is connected to the hub already.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/connections.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"

namespace paddle_launch {

struct JoiningSettings {
  std::vector<int> node_of{};
  KeepAlive keep_alive{};
  // How long to wait for any word of the hub, which ends a vain meeting by itself.
  std::chrono::milliseconds timeout{0};
  std::function<void(const WaitingFacts&)> waiting{};
  std::function<void()> spare{};  // the job has all its nodes; told once
};

class Joining {
 public:
  Joining(EventLoop& loop, JoiningSettings settings, Connections connections, OfferMessage mine);

  // None: the hub was lost, and lost() says why. Throws what the hub refuses with.
  std::optional<Met> run();
  const std::string& lost() const { return lost_; }

 private:
  void say_good_bye(const RefusalMessage& refusal);
  void take(const Message& message);
  void tick();
  void give_up(std::string why);

  EventLoop& loop_;
  JoiningSettings settings_;
  std::unique_ptr<Link> link_;
  std::shared_ptr<BetweenNews> news_;
  OfferMessage mine_;
  Alarm ticking_;
  EventLoop::Clock::time_point started_;
  EventLoop::Clock::time_point last_word_;
  WaitingFacts facts_;
  std::optional<RefusalMessage> refusal_;
  std::optional<RosterMessage> roster_;
  std::vector<Message> after_roster_;  // came in one breath with it: for the channel
  std::string lost_;
  bool is_spare_ = false;
};

}  // namespace paddle_launch
