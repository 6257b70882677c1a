// SPDX-License-Identifier: Apache-2.0
#include "launcher/plan/pod_roles.h"

#include <numeric>

#include "launcher/text/endpoint.h"

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

}  // namespace paddle_launch
