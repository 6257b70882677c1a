// SPDX-License-Identifier: Apache-2.0
// One real etcd for all tests of a suite, a prefix for each.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/etcd/etcd_server.h"

namespace paddle_launch {

class WithSharedServer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (why_no_etcd().empty()) shared_server() = std::make_unique<EtcdServer>();
  }
  static void TearDownTestSuite() { shared_server().reset(); }
  void SetUp() override { NEEDS_ETCD(); }

  static std::unique_ptr<EtcdServer>& shared_server() {
    static std::unique_ptr<EtcdServer> server;
    return server;
  }
  static EtcdServer& server() { return *shared_server(); }
  static EtcdSpec spec() { return server().spec(); }
  std::string prefix() const {
    return std::string("/") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
  }
};

}  // namespace paddle_launch
