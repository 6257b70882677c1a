// SPDX-License-Identifier: Apache-2.0
// Changes and adoptions of the job's lease, one after the other, each with the leases it needs: the
// oldest waits until its leases are granted, is sent once, and is answered. Where the server says
// that a lease is gone, the queue asks which one, has it made anew, and tries a second time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <variant>

#include "launcher/etcd/etcd_client.h"
#include "launcher/etcd/lease.h"

namespace paddle_launch {

class ChangeQueue {
 public:
  ChangeQueue(EtcdClient& client, Lease& pod, Lease& job, std::string prefix, KeeperEvents& events);

  void add(EtcdChange change);
  void add_adoption(std::int64_t lease) { waiting_.emplace_back(lease); }
  bool is_idle() const { return !is_busy_ && waiting_.empty(); }

  // Nothing is sent from now on: a put would make a new lease.
  void stop() { is_stopped_ = true; }

  // Begins what can be begun; to be called often.
  void advance();

 private:
  struct Pending {
    EtcdChange change{};
    Moment deadline{};
    bool is_second_try = false;
  };

  bool needs(EtcdLease lease) const;
  void prepare();
  void grant(Lease& lease);
  void send();
  void take(const EtcdReply& reply);
  void find_the_lost_lease();
  void finish(const EtcdAnswer& answer);

  EtcdClient& client_;
  Lease& pod_;
  Lease& job_;
  std::string prefix_;
  KeeperEvents& events_;
  std::deque<std::variant<Pending, std::int64_t>> waiting_;
  bool is_busy_ = false;
  bool is_stopped_ = false;
  Pending now_;
};

}  // namespace paddle_launch
