// SPDX-License-Identifier: Apache-2.0
// A waiting hub probes the nodes that have not come: one of them may have been given its list in
// another order, believe that it is the hub itself, and wait as well.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/channel/dialer.h"
#include "launcher/channel/message.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/name_lookup.h"

namespace paddle_launch {

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
