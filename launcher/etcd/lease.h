// SPDX-License-Identifier: Apache-2.0
// One lease, made when it is first needed and kept alive.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "launcher/etcd/etcd_client.h"

namespace paddle_launch {

struct LeaseEvents {
  std::function<void()> changed;  // id() or is_ours()
  // No server took the sign of life.
  std::function<void()> silence;
};

class Lease {
 public:
  Lease(EtcdClient& client, std::chrono::seconds ttl, LeaseEvents events);

  std::int64_t id() const { return id_; }  // 0: none
  bool is_ours() const { return is_ours_; }

  // One that is there already, from an earlier keeper.
  void hold(std::int64_t id, bool is_ours);
  // See Etcd::adopt_job_lease.
  void adopt(std::int64_t id);
  // Makes one. Told what went wrong, or nothing.
  void grant(Moment deadline, std::function<void(const std::string& problem)> done);
  // Asks the server now whether it is still there, which keeps it alive; one that is gone is
  // forgotten.
  void ask(std::function<void()> done);
  // Gives it back. Told when the server has answered, or not.
  void revoke(Moment deadline, std::function<void()> done);

  // When there is something to do without being asked.
  Moment due() const;
  void on_time(Moment now);
  void ask_soon();

 private:
  void take_beat(std::int64_t id, const EtcdReply& reply);
  void set(std::int64_t id, bool is_ours);

  EtcdClient& client_;
  std::chrono::seconds ttl_;
  LeaseEvents events_;
  std::int64_t id_ = 0;
  bool is_ours_ = false;
  bool is_asking_ = false;
  Moment next_beat_{};
};

}  // namespace paddle_launch
