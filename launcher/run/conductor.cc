// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/conductor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/site/port_users.h"

// The pods of a job with servers, and what the hub and a member do in each phase:
//
//          | begins with             | hub                              | member
// Early    | the round               | notes what pods tell             | notes what the hub tells
// Waiting  | own servers are started | notes who listens, names the rest| tells who listens here
// Working  | all servers listen      | tells all to start their workers | starts them when told
// Done     | all workers ended well  | tells all to stop their servers  | stops them when told
// Stopping | a reason to stop        | nothing                          | nothing
//
// A pod whose processes are gone takes part to the end: the hub still tells the others.

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLongestPause{200};
constexpr std::chrono::seconds kWorthAWord{2};
constexpr std::chrono::seconds kBetweenWords{10};
constexpr std::size_t kMostNamed = 6;

// By their ports: servers of this pod that others look for elsewhere than on their own machine.
std::map<int, const RoleProcess*> servers_for_others(const ServerWorld& world) {
  std::map<int, const RoleProcess*> servers;
  for (const RoleProcess& server : world.servers) {
    const bool is_local = server.host.starts_with("127.") || server.host == "localhost";
    if (server.pod == world.my_pod && world.nodes > 1 && !is_local) servers[server.port] = &server;
  }
  return servers;
}

}  // namespace

ConductorSettings conductor_settings(const ServerWorld& world, const ServerSpec& spec) {
  ConductorSettings settings{.pod = static_cast<int>(world.my_pod),
                             .start_at_once = spec.with_gloo == "1" || spec.with_gloo == "2",
                             .server_wait = spec.server_wait};
  for (const RoleProcess& server : world.servers) {
    settings.all_servers.push_back(server.endpoint());
    if (server.pod != world.my_pod) continue;
    settings.own_servers.push_back(server.name.index);
    settings.own_ports.push_back(server.port);
  }
  for (const RoleProcess& worker : world.workers) {
    settings.pods_with_workers.insert(static_cast<int>(worker.pod));
  }
  return settings;
}

ListeningPorts look_for_servers(const ServerWorld& world,
                                std::function<void(const std::string&)> warn) {
  return [servers = servers_for_others(world),
          warn = std::move(warn)](const std::vector<int>& wanted) {
    std::set<int> found = listening_ports(wanted);
    if (found.empty() || servers.empty()) return found;
    for (const int port : ports_on_loopback_alone(found)) {
      const auto server = servers.find(port);
      if (server == servers.end()) continue;
      warn(fmt::format(
          "server {} ({}) listens where only this machine reaches it: {} is a loopback address in "
          "/etc/hosts here; name its address in the list, or correct /etc/hosts",
          server->second->name.index, server->second->endpoint(), server->second->host));
    }
    return found;
  };
}

Conductor::Conductor(EventLoop& loop, Session& channel, ConductorSettings settings,
                     Observer& observer, ListeningPorts probe)
    : channel_(channel),
      settings_(std::move(settings)),
      observer_(observer),
      probe_(std::move(probe)),
      next_look_(loop),
      progress_(loop),
      pause_(kFirstPause),
      still_working_(settings_.pods_with_workers) {
  for (std::size_t i = 0; i < settings_.own_servers.size(); ++i) {
    not_listening_[settings_.own_servers[i]] = settings_.own_ports.at(i);
  }
  for (int i = 0; i < static_cast<int>(settings_.all_servers.size()); ++i) not_ready_.insert(i);
}

void Conductor::begin() {
  if (phase_ == Phase::Early) phase_ = Phase::Waiting;
  begun_at_ = Clock::now();
  if (channel_.is_hub()) progress_.set(kWorthAWord, [this] { tell_progress(); });
  if (settings_.start_at_once) {
    stop_waiting_for_listeners();
  } else {
    look_for_listeners();
  }
  act();
}

void Conductor::on_message(int node, const Message& message) {
  if (channel_.is_hub()) {
    if (const auto* ready = std::get_if<ServersListenMessage>(&message)) {
      note_ready(ready->servers, ready->are_silent);
    }
    if (std::holds_alternative<WorkersDoneMessage>(message)) still_working_.erase(node);
  } else {
    may_start_ = may_start_ || std::holds_alternative<StartWorkersMessage>(message);
    may_stop_ = may_stop_ || std::holds_alternative<StopServersMessage>(message);
  }
  act();
}

void Conductor::ended_well(int process) {
  // Servers are the first in the plan.
  const auto place = static_cast<std::size_t>(process);
  if (place >= settings_.own_servers.size()) return;
  const int server = settings_.own_servers[place];
  if (not_listening_.contains(server)) count_as_ready({server});
  act();
}

void Conductor::workers_done() {
  if (channel_.is_hub()) {
    still_working_.erase(settings_.pod);
  } else {
    channel_.tell(WorkersDoneMessage{});
  }
  act();
}

void Conductor::pod_ended() {
  pod_ended_ = true;
  if (phase_ != Phase::Stopping) stop_waiting_for_listeners();
  act();
}

void Conductor::job_stops() {
  if (phase_ != Phase::Done) phase_ = Phase::Stopping;
  next_look_.stop();
  progress_.stop();
}

void Conductor::look_for_listeners() {
  if (not_listening_.empty()) return;
  count_as_ready(those_that_listen());
  if (not_listening_.empty()) return;
  const auto left =
      std::chrono::ceil<milliseconds>(begun_at_ + settings_.server_wait - Clock::now());
  if (left <= milliseconds(0)) return give_up_on_silent();
  next_look_.set(std::min(pause_, left), [this] {
    look_for_listeners();
    act();
  });
  pause_ = std::min(pause_ * 3 / 2, kLongestPause);
}

std::vector<int> Conductor::those_that_listen() const {
  std::vector<int> wanted;
  for (const auto& [server, port] : not_listening_) wanted.push_back(port);
  const std::set<int> found = probe_(wanted);
  std::vector<int> servers;
  for (const auto& [server, port] : not_listening_) {
    if (found.contains(port)) servers.push_back(server);
  }
  return servers;
}

// The hub tells of all in one line, since under a scheduler nobody else has a console.
void Conductor::give_up_on_silent() {
  std::vector<int> silent;
  for (const auto& [server, port] : not_listening_) silent.push_back(server);
  if (!channel_.is_hub()) tell_who_is_silent({silent.begin(), silent.end()});
  count_as_ready(silent, true);
}

void Conductor::tell_who_is_silent(const std::set<int>& silent) const {
  const bool several = silent.size() > 1;
  observer_.on_progress(fmt::format(
      "{} {} not listen after {:g} s; the workers start without {} (--server_wait)",
      names_of(silent), several ? "do" : "does",
      std::chrono::duration<double>(settings_.server_wait).count(), several ? "them" : "it"));
}

void Conductor::stop_waiting_for_listeners() {
  std::vector<int> rest;
  for (const auto& [server, port] : not_listening_) rest.push_back(server);
  count_as_ready(rest);
}

void Conductor::count_as_ready(const std::vector<int>& servers, bool are_silent) {
  if (servers.empty()) return;
  for (const int server : servers) not_listening_.erase(server);
  if (not_listening_.empty()) next_look_.stop();
  if (channel_.is_hub()) {
    note_ready(servers, are_silent);
  } else {
    channel_.tell(ServersListenMessage{servers, are_silent});
  }
}

void Conductor::note_ready(const std::vector<int>& servers, bool are_silent) {
  for (const int server : servers) {
    if (not_ready_.erase(server) > 0 && are_silent) silent_.insert(server);
  }
}

void Conductor::tell_progress() {
  observer_.on_progress("waiting for servers to listen: " + names_of(not_ready_));
  progress_.set(kBetweenWords, [this] { tell_progress(); });
}

void Conductor::act() {
  const bool is_hub = channel_.is_hub();
  if (phase_ == Phase::Waiting && (is_hub ? not_ready_.empty() : may_start_)) start_workers();
  // A job without any worker ends when its servers do.
  const bool all_are_done = still_working_.empty() && !settings_.pods_with_workers.empty();
  if (phase_ == Phase::Working && (is_hub ? all_are_done : may_stop_)) stop_servers();
}

void Conductor::start_workers() {
  phase_ = Phase::Working;
  progress_.stop();
  if (!silent_.empty()) tell_who_is_silent(silent_);
  if (channel_.is_hub()) channel_.tell(StartWorkersMessage{});
  if (!pod_ended_) observer_.start_workers();
}

void Conductor::stop_servers() {
  phase_ = Phase::Done;
  channel_.work_is_done();
  if (channel_.is_hub()) channel_.tell(StopServersMessage{});
  if (!pod_ended_) observer_.stop_servers();
}

std::string Conductor::names_of(const std::set<int>& servers) const {
  std::string text;
  std::size_t named = 0;
  for (const int server : servers) {
    if (named++ == kMostNamed) break;
    const auto place = static_cast<std::size_t>(server);
    text += fmt::format("{}server {} ({})", text.empty() ? "" : ", ", server,
                        settings_.all_servers.at(place));
  }
  if (servers.size() > kMostNamed) text += fmt::format(", … {} more", servers.size() - kMostNamed);
  return text;
}

}  // namespace paddle_launch
