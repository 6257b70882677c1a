// SPDX-License-Identifier: Apache-2.0
// Pods that book themselves in a real etcd, all on one loop, and a visitor who sees and changes
// what stands there.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/job_register.h"
#include "tests/unit/etcd/observer.h"
#include "tests/unit/etcd/shared_server.h"

namespace paddle_launch {

class WithRegister : public WithSharedServer {
 protected:
  WithRegister() : watchdog_(loop_) {
    watchdog_.set(kLong, [] { throw std::runtime_error("nothing happens"); });
  }

  static std::string job_id() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static RegisterSettings settings(const NodeRange& nodes = {1, 4}) {
    RegisterSettings settings;
    settings.spec.etcd = spec();
    settings.spec.nodes = nodes;
    settings.spec.nodes_source = "--np";
    settings.job_id = job_id();
    settings.version = "0.1.0";
    settings.command = "train.py";
    settings.machine = "m1";
    return settings;
  }
  std::unique_ptr<JobRegister> book(int port, const RegisterSettings& settings) {
    auto pod = std::make_unique<JobRegister>(loop_, settings);
    pod->open("127.0.0.1", port);
    return pod;
  }
  std::unique_ptr<JobRegister> book(int port) { return book(port, settings()); }
  static std::unique_ptr<Observer> visitor() {
    return std::make_unique<Observer>(spec(), prefix_of(job_id()));
  }
  static void erase(Observer& visitor, const std::string& key) {
    EXPECT_TRUE(visitor.change({.deletes = {key}}).done);
  }

  void turn_until(const std::function<bool()>& condition) {
    while (!run_until(loop_, std::chrono::milliseconds(2), condition)) {
    }
  }

  EventLoop loop_;
  Alarm watchdog_;
};

}  // namespace paddle_launch
