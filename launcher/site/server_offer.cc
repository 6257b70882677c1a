// SPDX-License-Identifier: Apache-2.0
// docs/parameter-server.md says how a person asks for servers and workers.
#include "launcher/site/server_offer.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/site/choose_cards.h"
#include "launcher/tell/words.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr int kFirstHeterStage = 2;

void add_listed(const std::vector<std::string>& list, const std::string& host, RoleOffer offer,
                std::vector<RoleOffer>& roles) {
  for (const std::string& endpoint : list) {
    if (host_of(endpoint) == host) {
      offer.port = port_of(endpoint);
      roles.push_back(offer);
    }
    ++offer.index;
  }
}

// The first ones get one more where the number cannot be divided.
int share_of(int number, const NodeShare& share) {
  return number / share.launchers + (share.local < number % share.launchers ? 1 : 0);
}

void add_counted(int number, Role role, int stage, std::vector<RoleOffer>& roles) {
  for (int i = 0; i < number; ++i) roles.push_back({.role = role, .stage = stage});
}

void add_heter(const ServerSpec& spec, const std::string& host, const NodeShare& share,
               std::vector<RoleOffer>& roles) {
  int before = 0;
  for (int i = 0; i < spec.heter_stages(); ++i) {
    const auto stage = static_cast<std::size_t>(i);
    if (spec.heter_workers.empty()) {
      add_counted(share_of(spec.heter_worker_num[stage], share), Role::HeterWorker,
                  kFirstHeterStage + i, roles);
      continue;
    }
    const std::vector<std::string>& list = spec.heter_workers[stage];
    add_listed(
        list, host,
        {.role = Role::HeterWorker, .stage = kFirstHeterStage + i, .index = before, .port = 0},
        roles);
    before += static_cast<int>(list.size());
  }
}

}  // namespace

std::vector<RoleOffer> roles_of_pod(const ServerSpec& spec, const std::string& host,
                                    const NodeShare& share) {
  if (spec.single) {
    const ProcessName mine = spec.single->mine;
    const bool is_server = mine.role == Role::Server;
    const auto place = static_cast<std::size_t>(mine.index);
    return {{.role = mine.role,
             .stage = 1,
             .index = mine.index,
             .port = is_server ? port_of(spec.servers.at(place)) : 0}};
  }
  std::vector<RoleOffer> roles;
  if (spec.servers.empty()) {
    add_counted(share.local == 0 ? spec.server_num : 0, Role::Server, 1, roles);
  } else {
    add_listed(spec.servers, host, {.role = Role::Server, .stage = 1, .index = 0, .port = 0},
               roles);
  }
  if (spec.workers.empty()) {
    add_counted(share_of(spec.worker_num, share), Role::Trainer, 1, roles);
  } else {
    add_listed(spec.workers, host, {.role = Role::Trainer, .stage = 1, .index = 0, .port = 0},
               roles);
  }
  add_heter(spec, host, share, roles);
  return roles;
}

int offset_of(const ServerSpec& spec, Role role, int on_node) {
  if (role == Role::Server) return on_node;
  if (role == Role::Trainer) return spec.server_num + on_node;
  return spec.server_num + spec.worker_num + on_node;
}

int processes_of_node(const ServerSpec& spec) {
  return std::accumulate(spec.heter_worker_num.begin(), spec.heter_worker_num.end(),
                         spec.server_num + spec.worker_num);
}

std::optional<std::string> not_for_old_variables(const std::vector<std::string>& servers) {
  std::set<std::string_view> hosts;
  std::set<int> ports;
  for (const std::string& server : servers) {
    if (!hosts.insert(host_of(server)).second) {
      return fmt::format("{} has two servers, and the old variables name one for each host",
                         host_of(server));
    }
    ports.insert(port_of(server));
  }
  if (ports.size() < 2) return std::nullopt;
  return fmt::format(
      "the servers have ports {}, and the old variables have one (PADDLE_PSERVER_PORT) for all",
      fmt::join(ports, " and "));
}

namespace {

// "server 0" where its place in the list is known.
std::string name_in_messages(const RoleOffer& offer) {
  if (offer.index >= 0) return name_of({offer.role, offer.index});
  return offer.role == Role::Server    ? "a server"
         : offer.role == Role::Trainer ? "a worker"
                                       : "a heter worker";
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
    const std::string list = fmt::format("--{}s", words_of(offer.role).paddle);
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

void lease(const OfferRequest& request, bool is_first, Offer& offer) {
  const JobSpec& job = request.job;
  std::vector<RoleOffer>& roles = offer.pod.roles;
  PortWish wish{.count = 0, .start = {}, .start_source = {}, .range = job.port_range};
  std::vector<bool> is_named;
  std::vector<int> on_node;
  for (const Role role : {Role::Trainer, Role::Server, Role::HeterWorker}) {
    on_node.push_back(first_on_node(*job.servers, role, request.share));
  }
  for (const RoleOffer& process : roles) {
    auto named = named_port(job, process, on_node[static_cast<std::size_t>(process.role)]++);
    is_named.push_back(named.has_value());
    if (named) wish.named.push_back(std::move(*named));
    if (!is_named.back()) ++wish.count;
  }
  const std::size_t of_roles = wish.named.size();
  if (auto meeting = meeting_port(job, request.share, is_first))
    wish.named.push_back(std::move(*meeting));
  const bool has_meeting = wish.named.size() > of_roles;
  offer.ports = lease_ports(wish, offer.warnings);
  std::size_t named = 0;
  std::size_t free = wish.named.size();
  for (std::size_t i = 0; i < roles.size(); ++i) {
    roles[i].port = offer.ports.trainers.at(is_named[i] ? named++ : free++);
  }
  offer.pod.master_port = has_meeting ? offer.ports.trainers.at(of_roles) : offer.ports.master;
}

}  // namespace

void offer_roles(const OfferRequest& request, bool is_first, Offer& offer) {
  const ServerSpec& spec = *request.job.servers;
  if (request.job.bind != Binding::None) {
    offer.warnings.emplace_back(
        "--bind has no effect: processes of a job with parameter servers are not bound");
  }
  if (spec.as_it_is) return;
  offer.pod.roles = roles_of_pod(spec, offer.pod.host, request.share);
  check_old_variables(request.job, offer.pod.roles);
  const bool has_workers =
      std::any_of(offer.pod.roles.begin(), offer.pod.roles.end(),
                  [](const RoleOffer& process) { return process.role != Role::Server; });
  if (has_workers) {
    ChosenCards chosen = choose_cards(request.job, request.env);
    offer.means.cards = {chosen.kind, std::move(chosen.cards)};
  }
  lease(request, is_first, offer);
}

}  // namespace paddle_launch
