// SPDX-License-Identifier: Apache-2.0
// docs/several-nodes.md is the page for whoever types the nodes.
#include "launcher/rendezvous/star.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/gathering.h"
#include "launcher/rendezvous/hub_search.h"
#include "launcher/rendezvous/joining.h"

namespace paddle_launch {
namespace {

// Who would have told why there is no next round is gone.
struct HubLost : NodeMissing {
  using NodeMissing::NodeMissing;
};

// A process of this pod will listen there.
bool is_promised(const PodOffer& mine, int port) {
  const auto has_it = [port](const auto& process) { return process.port == port; };
  return port == mine.master_port || std::any_of(mine.roles.begin(), mine.roles.end(), has_it) ||
         std::any_of(mine.trainers.begin(), mine.trainers.end(), has_it);
}

std::vector<std::string> hosts_of(const Roster& roster) {
  std::vector<std::string> hosts;
  for (const PodOffer& pod : roster.pods) hosts.push_back(pod.host);
  return hosts;
}

}  // namespace

Star::Star(EventLoop& loop, TcpSettings settings, Narrator& narrator, UniqueFd listener)
    : loop_(loop),
      settings_(std::move(settings)),
      narrator_(narrator),
      listener_(std::move(listener)) {}

// None: every port is taken, and somebody else on this machine may be the hub.
UniqueFd Star::listen(const PodOffer& mine) {
  for (const int port : settings_.ports) {
    if (!settings_.may_join_instead && is_promised(mine, port)) continue;
    try {
      return listen_on(settings_.listen_on.value_or(0), port, kHubBacklog);
    } catch (const std::system_error& error) {
      ports_taken_.push_back(port);
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

Gathered Star::gather(const RoundState& round, OfferMessage mine, const PayloadMaker& payload) {
  if (!session_) {
    Gathered gathered = gather_first(std::move(mine), payload);
    last_ = gathered.roster;
    return gathered;
  }
  mine.offer.name = last_.pods.at(last_.mine).name;
  mine.offer.host = last_.pods.at(last_.mine).host;
  mine.terms.place = static_cast<int>(last_.mine);
  const bool speaks = !settings_.hub_tells_for_all || last_.mine == 0;
  try {
    Gathered gathered =
        hub_session_ != nullptr ? gather_again(round, mine, payload) : join_again(mine);
    last_ = gathered.roster;
    return gathered;
  } catch (const HubLost&) {
    // The first pod spoke for all; where it is lost, the first pod of each other node does.
    if (!speaks && !is_first_on_node() && last_.mine != 1) throw AlreadyTold{kNodeMissingStatus};
    throw;
  } catch (const NodeMissing&) {
    if (!speaks) throw AlreadyTold{kNodeMissingStatus};
    throw;
  } catch (const LaunchError&) {
    if (!speaks) throw AlreadyTold{};
    throw;
  }
}

bool Star::is_first_on_node() const {
  const std::size_t mine = last_.mine;
  return mine >= last_.node_of.size() || mine == 0 ||
         last_.node_of[mine] != last_.node_of[mine - 1];
}

Gathered Star::gather_first(OfferMessage mine, const PayloadMaker& payload) {
  if (settings_.is_hub && !listener_) listener_ = listen(mine.offer);
  if (!listener_) return join_first(std::move(mine));
  // Under a scheduler the name is only where to look; the members tell where they found us.
  if (mine.offer.host.empty() && settings_.node_of.empty()) mine.offer.host = settings_.hub_host;
  auto session = std::make_unique<HubSession>(
      std::make_unique<Hub>(loop_, std::move(listener_), settings_.identity));
  hub_session_ = session.get();
  session_ = std::move(session);
  GatheringSettings settings{.is_first = true,
                             .nodes = mine.terms.nodes,
                             .names = settings_.names,
                             .node_of = settings_.node_of,
                             .are_compared = settings_.are_compared,
                             .hub_tells_for_all = settings_.hub_tells_for_all,
                             .address = settings_.listen_on,
                             .timeout = settings_.timeout};
  // Where no list was typed nobody else would listen, but for a launcher at our own ports.
  if (settings_.is_list_typed || !ports_taken_.empty()) {
    settings.probe = ProbeTerms{.ports = settings_.ports,
                                .from = settings_.from,
                                .ports_taken = std::move(ports_taken_),
                                .asks_missing = settings_.is_list_typed};
  }
  return *Gathering(loop_, std::move(settings), *hub_session_, std::move(mine), narrator_)
              .run(payload);
}

// Until the hub answers with the roster, or refuses: a connection that breaks is made again.
Gathered Star::join_first(OfferMessage mine) {
  HubSearch search(loop_, settings_, mine.terms, narrator_);
  for (;;) {
    auto session =
        std::make_unique<MemberSession>(loop_, search.find(), settings_.identity.keep_alive);
    member_session_ = session.get();
    session_ = std::move(session);
    mine.terms.other_command = search.is_of_other_command();
    Joining joining(loop_,
                    {.node_of = settings_.node_of,
                     .keep_alive = settings_.identity.keep_alive,
                     .timeout = settings_.timeout + kPatienceWithHub,
                     .began = search.began(),
                     .hub_tells_for_all = settings_.hub_tells_for_all},
                    *member_session_, mine, narrator_);
    if (auto gathered = joining.run()) return std::move(*gathered);
    search.lost(joining.lost());
  }
}

Gathered Star::gather_again(const RoundState& round, const OfferMessage& mine,
                            const PayloadMaker& payload) {
  GatheringSettings settings{.round = round,
                             .nodes = static_cast<int>(last_.pods.size()),
                             .names = hosts_of(last_),
                             .node_of = last_.node_of,
                             .others_may_come = settings_.node_of.empty(),
                             .timeout = settings_.timeout};
  return *Gathering(loop_, std::move(settings), *hub_session_, mine, narrator_).run(payload);
}

Gathered Star::join_again(const OfferMessage& mine) {
  const std::string hub = fmt::format("node {}", last_.pods.front().host);
  if (!member_session_->has_hub()) {
    throw HubLost(fmt::format("{}, which holds the job together, was lost", hub));
  }
  Joining joining(loop_,
                  {.node_of = last_.node_of,
                   .keep_alive = settings_.identity.keep_alive,
                   .timeout = settings_.timeout + kPatienceWithHub},
                  *member_session_, mine, narrator_);
  if (auto gathered = joining.run()) return std::move(*gathered);
  throw HubLost(
      fmt::format("{}, which holds the job together, was lost before the next round began: {}", hub,
                  joining.lost()));
}

}  // namespace paddle_launch
