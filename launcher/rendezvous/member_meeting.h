// SPDX-License-Identifier: Apache-2.0
// Every other node's part in a meeting over TCP: looks for the hub until it is there, makes its
// offer, and takes the roster.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/dialer.h"
#include "launcher/channel/link.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/name_lookup.h"
#include "launcher/rendezvous/other_launchers.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/tcp_settings.h"

namespace paddle_launch {

class MemberMeeting {
 public:
  MemberMeeting(EventLoop& loop, const TcpSettings& settings, JobTerms terms, PodOffer mine);
  MemberMeeting(const MemberMeeting&) = delete;
  MemberMeeting& operator=(const MemberMeeting&) = delete;
  ~MemberMeeting();

  // Throws LaunchError or NodeMissing when there will be no job.
  Met run();

 private:
  void look_up_hub();
  void dial(const std::vector<std::uint32_t>& addresses);
  void failed(const DialFailure& failure);
  void try_again(const std::string& why);
  void joined(std::unique_ptr<Link> link);
  void take(const Message& message);
  void take_roster(const RosterMessage& roster);
  void tick();
  void end_lookup();

  EventLoop& loop_;
  const TcpSettings& settings_;
  JobTerms terms_;
  PodOffer mine_;
  std::unique_ptr<NameLookup> lookup_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Link> link_;
  std::chrono::milliseconds pause_;
  Alarm ticking_;
  Alarm retry_;
  EventLoop::Clock::time_point started_;
  OtherLaunchers others_;
  WaitingFacts facts_;
  std::optional<RefusalMessage> refusal_;
  std::optional<Roster> roster_;
  int hub_ = 0;  // its place in the roster
  bool told_problem_ = false;
  std::vector<Message> after_roster_;  // came in one breath with it: for the channel
  std::vector<std::string> warnings_;
  std::string payload_;
  RoundState round_;
  Ticket ticket_;
};

}  // namespace paddle_launch
