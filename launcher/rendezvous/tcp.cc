// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/tcp.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/hub_meeting.h"
#include "launcher/rendezvous/member_meeting.h"

namespace paddle_launch {
namespace {

// A process of this pod will listen there.
bool is_promised(const PodOffer& mine, int port) {
  const auto has_it = [port](const auto& process) { return process.port == port; };
  return port == mine.master_port || std::any_of(mine.roles.begin(), mine.roles.end(), has_it) ||
         std::any_of(mine.trainers.begin(), mine.trainers.end(), has_it);
}

}  // namespace

Tcp::Tcp(EventLoop& loop, TcpSettings settings) : loop_(loop), settings_(std::move(settings)) {}

// None: every port is taken, and somebody else on this machine may be the hub.
UniqueFd Tcp::listen(const PodOffer& mine, std::vector<int>& taken) const {
  for (const int port : settings_.ports) {
    if (!settings_.may_join_instead && is_promised(mine, port)) continue;
    try {
      return listen_on(settings_.listen_on.value_or(0), port, kHubBacklog);
    } catch (const std::system_error& error) {
      taken.push_back(port);
      if (error.code().value() != EADDRINUSE) {
        throw LaunchError(fmt::format(
            "cannot listen on port {} of {}, where the other nodes look for this one: {}; choose "
            "another port with {}",
            port, settings_.hub_host, error.code().message(),
            settings_.may_join_instead ? "--master" : "--bootstrap_port"));
      }
    }
  }
  if (settings_.may_join_instead) return {};
  throw LaunchError(fmt::format(
      "ports {} to {} of {} are all taken, and the other nodes look for this one there; choose "
      "others with --bootstrap_port, the same on all nodes",
      settings_.ports.front(), settings_.ports.back(), settings_.hub_host));
}

Met Tcp::meet(const JobTerms& terms, const PodOffer& mine, const PayloadMaker& payload) {
  if (settings_.is_hub) {
    std::vector<int> taken;
    if (UniqueFd listener = listen(mine, taken)) {
      PodOffer offer = mine;
      // Under a scheduler the name is only where to look; the members tell where they found us.
      if (offer.host.empty() && settings_.node_of.empty()) offer.host = settings_.hub_host;
      return HubMeeting(loop_, settings_, std::move(listener), terms, offer, std::move(taken))
          .run(payload);
    }
  }
  return MemberMeeting(loop_, settings_, terms, mine).run();
}

}  // namespace paddle_launch
