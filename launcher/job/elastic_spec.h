// SPDX-License-Identifier: Apache-2.0
// A job whose nodes come and go: the etcd server where they meet, how many there may be, and how
// long the others wait.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace paddle_launch {

struct EtcdSpec {
  std::vector<std::string> endpoints{};  // "host:port", tried in turn
  std::string source{};                  // "--elastic_server", "--master", "PADDLE_ELASTIC_SERVER"
  std::string user{};
  std::string password{};  // never shown
  bool tls = false;
  std::string cacert{};  // files; empty: the system's own, none
  std::string cert{};
  std::string key{};

  bool operator==(const EtcdSpec&) const = default;
};

struct NodeRange {
  int min = 1;
  int max = 1;

  bool is_fixed() const { return min == max; }
  // As it is typed: "3" or "2:4".
  std::string text() const {
    return is_fixed() ? std::to_string(min) : std::to_string(min) + ":" + std::to_string(max);
  }
  bool operator==(const NodeRange&) const = default;
};

struct ElasticSpec {
  EtcdSpec etcd{};
  NodeRange nodes{};
  std::string nodes_source{};                  // "--np", "--nnodes", "PADDLE_ELASTIC_NP"
  std::chrono::milliseconds timeout{120'000};  // too few nodes are waited for so long
  std::chrono::milliseconds settle{
      3'000};                    // a changed number of nodes is kept so long before it counts
  std::chrono::seconds ttl{60};  // of what a dead node leaves in etcd
  // Where a trainer fails: 1 all start again, 0 its node leaves and the others go on or wait, -1
  // the job ends.
  int level = 1;
  bool force = false;  // --force: this launch's number of nodes replaces that of the running job
  std::string pre_hook{};  // --elastic_pre_hook: a shell command before each round

  bool operator==(const ElasticSpec&) const = default;
};

// What somebody outside wants of a running job.
struct JobOrder {
  enum class Kind { Status, Scale, Stop };

  Kind kind = Kind::Status;
  EtcdSpec etcd{};
  std::string job_id{};
  int nodes = 0;      // of Scale
  bool json = false;  // --status=json

  bool operator==(const JobOrder&) const = default;
};

}  // namespace paddle_launch
