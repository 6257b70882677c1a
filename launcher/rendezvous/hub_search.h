// SPDX-License-Identifier: Apache-2.0
// A pod that is told where the hub is looks for it until it is there: the node may not be up yet,
// its name not known, another job at its port.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/dialer.h"
#include "launcher/channel/link.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/name_lookup.h"
#include "launcher/rendezvous/other_launchers.h"
#include "launcher/rendezvous/tcp_settings.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class HubSearch {
 public:
  // `terms`: of this pod; its problem is told while it takes a while.
  HubSearch(EventLoop& loop, const TcpSettings& settings, const JobTerms& terms,
            Narrator& narrator);
  HubSearch(const HubSearch&) = delete;
  HubSearch& operator=(const HubSearch&) = delete;
  ~HubSearch() { end_lookup(); }

  // Throws NodeMissing where nobody is found within the time-out of the whole search.
  std::unique_ptr<Link> find();
  // The link that was found broke before it was of any use: find() tries again.
  void lost(const std::string& why) { try_again(why); }
  EventLoop::Clock::time_point began() const { return began_; }

 private:
  void look_up();
  void dial(const std::vector<std::uint32_t>& addresses);
  void on_failure(const DialFailure& failure);
  void try_again(const std::string& why);
  void tick();
  void end_lookup();

  EventLoop& loop_;
  const TcpSettings& settings_;
  const JobTerms& terms_;
  Narrator& narrator_;
  std::unique_ptr<NameLookup> lookup_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Link> link_;
  std::chrono::milliseconds pause_;
  Alarm ticking_;
  Alarm retry_;
  EventLoop::Clock::time_point began_;
  OtherLaunchers others_;
  WaitingFacts facts_;
  bool is_late_ = false;
};

}  // namespace paddle_launch
