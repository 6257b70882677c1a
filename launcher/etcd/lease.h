// SPDX-License-Identifier: Apache-2.0
// One lease: none at first; made when a put first needs it, or adopted from a key of the job; asked
// for every third of its time, which keeps it alive; none again when the server has lost it, when
// it is forgotten, or given back. Without an answer it is asked for every second, and the watch is
// told of the silence.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "launcher/etcd/etcd_client.h"

namespace paddle_launch {

class Lease {
 public:
  Lease(EtcdClient& client, std::chrono::seconds ttl, KeeperEvents& events);

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
  KeeperEvents& events_;
  std::int64_t id_ = 0;
  bool is_ours_ = false;
  bool is_asking_ = false;
  Moment next_beat_{};
};

}  // namespace paddle_launch
