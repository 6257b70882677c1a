// SPDX-License-Identifier: Apache-2.0
// The launcher's door to etcd: one prefix of keys, seen as a whole and changed by transactions. The
// talking is done by a keeper process of its own, which holds libcurl, so that the process that
// supervises trainers neither loads it nor ever waits for a network. The keeper keeps two leases
// alive: the pod's own, given back at once when the launcher is gone, however it went; and the
// job's, which all pods of the job keep together.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/etcd/etcd_problem.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/frames.h"

namespace paddle_launch {

struct HeldLeases {
  std::int64_t pod = 0;  // 0: none
  std::int64_t job = 0;
  bool job_is_ours = false;  // made here, not adopted

  bool operator==(const HeldLeases&) const = default;
};

// What a keeper is to do, as it knows it from its start. A keeper that died leaves its leases to
// the next one.
struct KeeperOrders {
  EtcdSpec spec{};
  std::string prefix{};
  std::chrono::seconds ttl{};
  HeldLeases held{};
};

struct EtcdEntry {
  std::string key{};  // without the prefix
  std::string value{};
  std::int64_t created = 0;   // the revision that made the key
  std::int64_t modified = 0;  // the revision that wrote this value
  std::int64_t lease = 0;     // 0: none

  bool operator==(const EtcdEntry&) const = default;
};

struct EtcdCompare {
  enum class What { Absent, Created, Modified };

  std::string key{};
  What what = What::Absent;
  std::int64_t revision = 0;  // of Created and Modified
};

enum class EtcdLease { None, Pod, Job };

struct EtcdPut {
  std::string key{};
  std::string value{};
  EtcdLease lease = EtcdLease::Pod;
};

// All or nothing: when every comparison holds.
struct EtcdChange {
  std::vector<EtcdCompare> only_if{};
  std::vector<EtcdPut> puts{};
  std::vector<std::string> deletes{};
  bool delete_all = false;  // every key of the prefix
};

struct EtcdAnswer {
  bool done = false;  // false without a problem: a comparison did not hold
  // The server did not answer or refused; the change may or may not be there.
  std::string problem{};
};

class EtcdEvents {
 public:
  // All keys of the prefix, whenever one of them changed and once at the start.
  virtual void on_entries(const std::vector<EtcdEntry>& entries) = 0;
  // When it changes, and once at the start.
  virtual void on_connection(const EtcdProblem& problem) = 0;

 protected:
  ~EtcdEvents() = default;
};

inline constexpr std::chrono::seconds kToFindTheServer{10};
inline constexpr std::chrono::seconds kToLeaveTheServer{2};

class Etcd {
 public:
  // `prefix` ends with a slash. Returns at once. Throws std::system_error when no process could be
  // made.
  Etcd(EventLoop& loop, const EtcdSpec& spec, const std::string& prefix, std::chrono::seconds ttl,
       EtcdEvents& events);
  Etcd(const Etcd&) = delete;
  Etcd& operator=(const Etcd&) = delete;
  // As close(), without waiting.
  ~Etcd();

  // Exactly one answer for each change, in their order, never before this returns. A change that
  // the server could not take is not repeated by itself.
  void change(const EtcdChange& change, std::function<void(const EtcdAnswer&)> answered);
  // From now on the job's lease is this one, found at a key of the job; a lease of our own for the
  // job, if there was one, is given back. 0: forget it; the next put with EtcdLease::Job makes one.
  void adopt_job_lease(std::int64_t lease);
  // Finishes the changes that were asked for, gives the pod's lease back (its keys vanish) and,
  // where `job_too`, the job's. Waits, a short time at most. Nothing is told any more, not even the
  // answers to earlier changes: what they refer to may be gone. Where the keeper was just killed,
  // another one does it.
  void close(bool job_too, std::chrono::milliseconds patience);

  // Of the keeper. One that died is replaced after a second, and the next one has its leases.
  pid_t pid() const { return pid_; }

 private:
  using Answered = std::function<void(const EtcdAnswer&)>;

  void start();
  void restart();
  void flush();
  void turn();
  void deliver();
  void take(const std::string& frame);
  void explain_the_end();
  void tell_connection(const EtcdProblem& problem);
  void refuse_all();
  bool end_keeper(bool job_too, std::chrono::steady_clock::time_point until);
  void let_go();

  EventLoop& loop_;
  EtcdEvents& events_;
  KeeperOrders orders_;
  pid_t pid_ = -1;  // -1: there is none now
  FramePipe keeper_;
  std::deque<Answered> waiting_;        // the oldest first
  std::optional<EtcdProblem> problem_;  // as told last
  bool is_closed_ = false;
  Alarm rest_;     // frames that came with one whose callback threw
  Alarm refusal_;  // of changes that nobody can carry out
  Alarm next_;     // keeper
};

}  // namespace paddle_launch
