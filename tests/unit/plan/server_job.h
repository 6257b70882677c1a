// SPDX-License-Identifier: Apache-2.0
// Rosters and variables of jobs with parameter servers, for the tests of this room.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launcher/job/plan.h"
#include "launcher/job/pod.h"
#include "launcher/plan/paddle_env.h"
#include "launcher/plan/world.h"
#include "launcher/site/server_offer.h"

namespace paddle_launch {

inline const PaddleEnvSettings kSettings{
    .backend = "auto", .log_dir = "/logs", .job_id = "default", .temporary_dir = "/tmp"};

using Variables = std::map<std::string, std::string>;

inline Variables as_map(const std::vector<EnvVar>& env) { return {env.begin(), env.end()}; }

inline PodOffer pod_at(const ServerSpec& spec, const std::string& host, NodeShare share = {}) {
  PodOffer offer{.name = "abcdef",
                 .host = host,
                 .card_kind = {},
                 .trainers = {},
                 .roles = roles_of_pod(spec, host, share),
                 .master_port = 6000};
  int port = 7000;
  for (RoleOffer& role : offer.roles) {
    if (role.port == 0) role.port = port++;
  }
  return offer;
}

// Positions and nodes disagree: n1 has servers and workers, n2 workers, n3 a server.
inline ServerSpec interleaved() {
  ServerSpec spec;
  spec.servers = {"n1:6170", "n3:6171"};
  spec.workers = {"n2:6172", "n1:6173", "n2:6174", "n1:6175"};
  return spec;
}

inline ServerSpec numbers(int servers, int workers) {
  ServerSpec spec;
  spec.server_num = servers;
  spec.worker_num = workers;
  return spec;
}

inline ServerSpec heter() {
  ServerSpec spec;
  spec.server_num = 1;
  spec.worker_num = 2;
  spec.heter_worker_num = {1, 2};
  spec.heter_devices = {"gpu", "cpu"};
  return spec;
}

inline Roster roster_of(const ServerSpec& spec, const std::vector<std::string>& hosts,
                        std::size_t mine) {
  Roster roster{.pods = {}, .mine = mine};
  for (const std::string& host : hosts) roster.pods.push_back(pod_at(spec, host));
  return roster;
}

inline ServerWorld world_of(const ServerSpec& spec, const std::vector<std::string>& hosts,
                            std::size_t mine = 0) {
  return plan_server_world(roster_of(spec, hosts, mine), spec.http_port);
}

}  // namespace paddle_launch
