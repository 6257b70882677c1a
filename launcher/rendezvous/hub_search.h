// SPDX-License-Identifier: Apache-2.0
// Looking for the hub. A pod that is told where it is looks until it is there: the node may not be
// up yet, its name not known, another job at its port. And a waiting hub probes the nodes that have
// not come: one of them may have been given its list in another order, believe that it is the hub
// itself, and wait as well. Launchers that are met on the way and do not belong to the job are told
// to the person who waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/channel/dialer.h"
#include "launcher/channel/handshake.h"
#include "launcher/channel/link.h"
#include "launcher/channel/message.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/name_lookup.h"
#include "launcher/rendezvous/tcp_settings.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

// As the person who waits is told of them.
class OtherLaunchers {
 public:
  explicit OtherLaunchers(Greeting own);

  void met(const Greeting& greeting, const std::string& where);
  void forget();
  void tell(WaitingFacts& facts) const;

 private:
  Greeting own_;
  std::set<std::string> other_jobs_;
  std::set<std::string> other_tokens_;
};

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
  // The hub that was found has another command: this pod joins it for want of its own.
  bool is_of_other_command() const { return is_of_other_command_; }

 private:
  void look_up();
  void dial(const std::vector<std::uint32_t>& addresses);
  void dial(const std::vector<DialTarget>& targets, bool any_command);
  void on_failure(const DialFailure& failure);
  std::optional<DialTarget> hub_of_other_command(const DialFailure& failure);
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
  std::optional<EventLoop::Clock::time_point> other_command_since_;  // that its hub was met
  bool is_of_other_command_ = false;
  bool is_late_ = false;
};

// One node after the other is asked whether it is the hub of this very job.
class HubProbe {
 public:
  struct Events {
    std::function<void(const std::string& host, const RefusalMessage&)> answered;
    std::function<void(const std::string& host, const std::string& why)> nobody;
  };

  HubProbe(EventLoop& loop, ChannelIdentity identity, std::vector<int> ports,
           std::optional<std::uint32_t> from, OfferMessage mine, Events events);
  HubProbe(const HubProbe&) = delete;
  HubProbe& operator=(const HubProbe&) = delete;
  ~HubProbe();

  // One host at a time; does nothing while a probe is under way.
  void probe(const std::string& host);
  // At some ports alone.
  void probe(const std::string& host, std::vector<int> ports);

 private:
  void dial(const std::vector<std::uint32_t>& addresses);
  void found(std::unique_ptr<Link> link);
  void nobody(const std::string& why);
  void end_lookup();

  EventLoop& loop_;
  ChannelIdentity identity_;
  std::vector<int> ports_;
  std::optional<std::uint32_t> from_;
  OfferMessage mine_;
  Events events_;
  std::string host_;             // who is probed now
  std::vector<int> host_ports_;  // and at which ports
  std::unique_ptr<NameLookup> lookup_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Link> link_;
};

}  // namespace paddle_launch
