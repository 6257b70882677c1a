// SPDX-License-Identifier: Apache-2.0
// What etcd holds about one job: keys and values as docs/elastic.md has them, read and written here
// alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/etcd/etcd.h"
#include "launcher/job/ending.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Key "job".
struct BookedJob {
  std::string version{};
  NodeRange nodes{};
  std::string secret{};  // in hex; empty: the users have a token
  std::int64_t created = 0;
  std::string command{};
  std::int64_t lease = 0;  // found, not written

  bool operator==(const BookedJob&) const = default;
};

// Key "pods/<name>".
struct BookedPod {
  std::string name{};  // of the key
  std::string host{};
  int port = 0;  // where it listens for others, should it be the hub
  std::string machine{};
  int pid = 0;
  std::int64_t since = 0;     // its seniority: the revision that first booked it; 0: see created
  std::int64_t created = 0;   // found, not written
  std::int64_t modified = 0;  // found, not written

  std::int64_t seniority() const { return since > 0 ? since : created; }
  bool operator==(const BookedPod&) const = default;
};

// Key "round".
struct BookedRound {
  struct Pod {
    std::string name{};
    std::string host{};
    int first_rank = 0;
    int trainers = 0;
    bool operator==(const Pod&) const = default;
  };
  RoundState state{};
  std::int64_t started = 0;  // seconds since 1970
  bool is_running = false;   // false: waiting for nodes
  std::string hub{};         // its name
  std::vector<Pod> pods{};   // in the order of their ranks

  bool operator==(const BookedRound&) const = default;
};

struct JobBook {
  std::optional<BookedJob> job{};
  std::vector<BookedPod> pods{};  // the most senior first
  std::optional<BookedRound> round{};
  // The revisions that wrote the keys "job" and "round", readable or not; 0: there is no such key.
  std::int64_t job_key = 0;
  std::int64_t round_key = 0;
  std::optional<int> scale{};  // key "orders/scale"
  std::string scale_from{};
  std::optional<std::string> stop_from{};  // key "orders/stop"

  // The number of nodes with the order from outside: of a fixed job N:N, of others MIN:N.
  std::optional<NodeRange> wanted() const;
  const BookedPod* find_pod(const std::string& name) const;
};

constexpr const char* kJobKey = "job";
constexpr const char* kRoundKey = "round";
constexpr const char* kScaleKey = "orders/scale";
constexpr const char* kStopKey = "orders/stop";
std::string pod_key(const std::string& name);
// That nobody has touched the key since; 0: that it is still not there.
EtcdCompare as_it_stands(const std::string& key, std::int64_t revision);
// "/paddle/<job_id>/".
std::string prefix_of(const std::string& job_id);

// What cannot be read (somebody else's key) is left out.
JobBook read_book(const std::vector<EtcdEntry>& entries);

std::string write_job(const BookedJob& job);
std::string write_pod(const BookedPod& pod);
std::string write_round(const BookedRound& round);
std::string write_scale(int nodes, const std::string& from);
std::string write_stop(const std::string& from);

}  // namespace paddle_launch
