// SPDX-License-Identifier: Apache-2.0
// A member's part in a meeting of pods, connected to the hub: it makes its offer and takes the
// roster, or hears why there is none.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/member_session.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

struct JoiningSettings {
  std::vector<int> node_of{};
  KeepAlive keep_alive{};
  // How long to wait: before the first round altogether, since `began`; later for any word of the
  // hub, which ends a vain meeting by itself.
  std::chrono::milliseconds timeout{0};
  std::optional<EventLoop::Clock::time_point> began{};  // of the search for the hub
  bool hub_tells_for_all = false;  // all launchers share one console: a refusal is said there
};

class Joining {
 public:
  Joining(EventLoop& loop, JoiningSettings settings, MemberSession& session, OfferMessage mine,
          Narrator& narrator);
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;
  ~Joining() { link_.stop_listening(); }

  // The round has begun for the session when this returns. None: the hub was lost, and lost() says
  // why. Throws what the hub refuses with, and NodeMissing where the first meeting takes too long.
  std::optional<Gathered> run();
  const std::string& lost() const { return lost_; }

 private:
  void listen();
  void say_good_bye(const RefusalMessage& refusal);
  void on_message(const Message& message);
  void tick();
  void give_up(std::string why);
  Gathered take_roster();

  EventLoop& loop_;
  JoiningSettings settings_;
  MemberSession& session_;
  Link& link_;
  OfferMessage mine_;
  Narrator& narrator_;
  Alarm ticking_;
  EventLoop::Clock::time_point started_;
  EventLoop::Clock::time_point last_word_;
  WaitingFacts facts_;
  std::optional<RefusalMessage> refusal_;
  std::optional<RosterMessage> roster_;
  std::string lost_;
  bool is_late_ = false;
  bool is_spare_ = false;
  bool told_spare_ = false;
};

}  // namespace paddle_launch
