// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/server_preparation.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/job/pod.h"
#include "launcher/plan/pod_roles.h"
#include "launcher/plan/server_env.h"
#include "launcher/site/choose_cards.h"
#include "launcher/tell/words.h"

namespace paddle_launch {
namespace {

// "server 0" where its place in the list is known.
std::string name_in_messages(const RoleOffer& offer) {
  if (offer.index >= 0) return name_of({offer.role, offer.index});
  return offer.role == Role::Server    ? "a server"
         : offer.role == Role::Trainer ? "a worker"
                                       : "a heter worker";
}

std::string list_with(Role role) {
  return role == Role::Server    ? "--servers"
         : role == Role::Trainer ? "--workers"
                                 : "--heter_workers";
}

NamedPort from_start(const JobSpec& job, int offset, std::string whose) {
  const int port = *job.start_port + offset;
  if (port > kLastPort) {
    throw UsageError(
        fmt::format("{}={}: the port of {} would be {}, but ports go from 1 to {}; "
                    "choose another first port",
                    job.start_port_source, *job.start_port, whose, port, kLastPort));
  }
  return {port, std::move(whose), fmt::format("{}={}", job.start_port_source, *job.start_port),
          fmt::format("choose another first port, or leave out {} to get free ones",
                      job.start_port_source)};
}

// The port that somebody named for this process; none: a free one will do. `on_node`: its number
// among those of its role on the node.
std::optional<NamedPort> named_port(const JobSpec& job, const RoleOffer& offer, int on_node) {
  const std::string whose = name_in_messages(offer);
  if (job.servers->single && offer.port != 0) {
    const std::string& source = job.servers->single->port_source;
    return NamedPort{offer.port, whose, source,
                     fmt::format("stop what uses it, or set another {} on all nodes", source)};
  }
  if (offer.port != 0) {
    const std::string list = list_with(offer.role);
    return NamedPort{offer.port, whose, list,
                     fmt::format("stop what uses it, or name another port in {}", list)};
  }
  if (job.start_port) return from_start(job, offset_of(*job.servers, offer.role, on_node), whose);
  if (job.servers->legacy_env && offer.role == Role::Server) {
    return NamedPort{kLegacyServerPort, whose, "--legacy_env",
                     "stop what uses it, or choose a first port with --start_port"};
  }
  return std::nullopt;
}

std::optional<NamedPort> meeting_port(const JobSpec& job, const NodeShare& share, bool is_first) {
  const ServerSpec& spec = *job.servers;
  const std::string whose = "Gloo's meeting point";
  if (spec.http_port) {
    if (!is_first) return std::nullopt;
    return NamedPort{*spec.http_port, whose, spec.http_port_source,
                     "stop what uses it, or choose another port"};
  }
  if (!job.start_port || share.local != 0 || !spec.servers.empty()) return std::nullopt;
  return from_start(job, processes_of_node(spec), whose);
}

// How many of a role the launchers before this one have on the node.
int first_on_node(const ServerSpec& spec, Role role, const NodeShare& share) {
  int before = 0;
  for (int local = 0; local < share.local; ++local) {
    const auto theirs = roles_of_pod(spec, "", {local, share.launchers, share.own_cards});
    before += static_cast<int>(
        std::count_if(theirs.begin(), theirs.end(),
                      [role](const RoleOffer& offer) { return offer.role == role; }));
  }
  return before;
}

void check_old_variables(const JobSpec& job, const std::vector<RoleOffer>& roles) {
  const ServerSpec& spec = *job.servers;
  if (!spec.legacy_env || spec.single) return;
  const auto servers = std::count_if(roles.begin(), roles.end(), [](const RoleOffer& offer) {
    return offer.role == Role::Server;
  });
  std::optional<std::string> problem = not_for_old_variables(spec.servers);
  if (!problem && spec.servers.empty() && servers > 1) {
    problem = fmt::format("this node has {} servers, and the old variables name one for each host",
                          servers);
  }
  if (problem) {
    throw UsageError(fmt::format(
        "--legacy_env: {}; give each host one server and all the same port, or leave it out",
        *problem));
  }
}

void lease(const JobSpec& job, const NodeShare& share, bool is_first, Preparation& ready) {
  std::vector<RoleOffer>& roles = ready.offer.roles;
  PortWish wish{.count = 0, .start = {}, .start_source = {}, .range = job.port_range};
  std::vector<bool> is_named;
  std::vector<int> on_node;
  for (const Role role : {Role::Trainer, Role::Server, Role::HeterWorker}) {
    on_node.push_back(first_on_node(*job.servers, role, share));
  }
  for (const RoleOffer& offer : roles) {
    auto named = named_port(job, offer, on_node[static_cast<std::size_t>(offer.role)]++);
    is_named.push_back(named.has_value());
    if (named) wish.named.push_back(std::move(*named));
    if (!is_named.back()) ++wish.count;
  }
  const std::size_t of_roles = wish.named.size();
  if (auto meeting = meeting_port(job, share, is_first)) wish.named.push_back(std::move(*meeting));
  const bool has_meeting = wish.named.size() > of_roles;
  ready.ports = lease_ports(wish, ready.warnings);
  std::size_t named = 0;
  std::size_t free = wish.named.size();
  for (std::size_t i = 0; i < roles.size(); ++i) {
    roles[i].port = ready.ports.trainers.at(is_named[i] ? named++ : free++);
  }
  ready.offer.master_port = has_meeting ? ready.ports.trainers.at(of_roles) : ready.ports.master;
}

}  // namespace

void prepare_roles(const JobSpec& job, const Environment& env, const std::string& host,
                   const NodeShare& share, bool is_first, Preparation& ready) {
  ready.offer.host = host;
  if (job.bind != Binding::None) {
    ready.warnings.emplace_back(
        "--bind has no effect: processes of a job with parameter servers are not bound");
  }
  if (job.servers->as_it_is) return;
  ready.offer.roles = roles_of_pod(*job.servers, host, share);
  check_old_variables(job, ready.offer.roles);
  const bool has_workers =
      std::any_of(ready.offer.roles.begin(), ready.offer.roles.end(),
                  [](const RoleOffer& offer) { return offer.role != Role::Server; });
  if (has_workers) {
    ChosenCards chosen =
        choose_cards(job, env, [&env](CardKind kind) { return find_cards_of(kind, env); });
    ready.cards = {chosen.kind, std::move(chosen.cards)};
  }
  lease(job, share, is_first, ready);
}

}  // namespace paddle_launch
