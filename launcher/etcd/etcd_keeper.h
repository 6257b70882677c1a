// SPDX-License-Identifier: Apache-2.0
// The keeper of an elastic job: a process of its own that talks to etcd for the launcher, tells
// what the server says, and puts things in order at the end.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "launcher/etcd/change_queue.h"
#include "launcher/etcd/etcd.h"
#include "launcher/etcd/etcd_client.h"
#include "launcher/etcd/http.h"
#include "launcher/etcd/lease.h"
#include "launcher/etcd/prefix_watch.h"
#include "launcher/os/frames.h"

namespace paddle_launch {

class EtcdKeeper final : KeeperEvents {
 public:
  // Throws std::runtime_error where there is no libcurl.
  EtcdKeeper(FramePipe& launcher, const KeeperOrders& orders);
  EtcdKeeper(const EtcdKeeper&) = delete;
  EtcdKeeper& operator=(const EtcdKeeper&) = delete;

  // Returns when all is done that is to be done.
  void run();

 private:
  struct Ending {
    bool job_too = false;
    Moment changes_until{};
    Moment until{};
    bool has_begun = false;  // to give the leases back
    int open = 0;            // answers that are still to come
  };

  void on_lease() override;
  void on_silence() override;
  void on_entries() override;
  void on_connection(const EtcdProblem& problem) override;
  void on_answer(const EtcdAnswer& answer) override;

  void listen();
  void take(const std::string& frame);
  void tell_entries();
  void end_within(std::chrono::milliseconds budget, bool job_too, bool with_changes);
  bool is_over(Moment now);
  void give_back();
  Moment due() const;

  FramePipe& launcher_;
  Http http_;
  EtcdClient client_;
  Lease pod_;
  Lease job_;
  PrefixWatch watch_;
  ChangeQueue changes_;
  bool launcher_is_gone_ = false;
  bool has_news_ = false;  // entries that the launcher is to see when it has read the earlier ones
  std::optional<Ending> ending_;
};

// What the etcd keeper does in its own process: talks to the server for the launcher, and when the
// launcher is gone gives the pod's lease back, so that the other nodes need not wait for it to run
// out. In the child; ends soon after the other end of the socket was closed.
void be_the_etcd_keeper(FramePipe& launcher, const KeeperOrders& orders);

}  // namespace paddle_launch
