// SPDX-License-Identifier: Apache-2.0
// A real etcd on this machine, for one test or for several.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "launcher/job/job_spec.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {

// Why there can be none; empty: there can. Where all tests must run this is a failure.
std::string why_no_etcd();
bool all_tests_must_run();

#define NEEDS_ETCD()                                         \
  if (const std::string why = why_no_etcd(); !why.empty()) { \
    if (all_tests_must_run()) FAIL() << why;                 \
    GTEST_SKIP() << why;                                     \
  }                                                          \
  static_assert(true)

class EtcdServer {
 public:
  // `tls` are further arguments; with them it speaks https.
  explicit EtcdServer(std::vector<std::string> tls = {});
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  ~EtcdServer() { stop(); }

  // With the same address and the same data.
  void start();
  void stop();
  pid_t pid() const { return pid_; }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  EtcdSpec spec() const { return {.endpoints = {address()}, .source = "--elastic_server"}; }
  // The answer to a POST, without libcurl: head and body.
  std::string ask(const std::string& path, const std::string& body) const;

 private:
  bool is_ready() const;
  std::vector<std::string> command() const;

  TempFolder folder_;
  std::vector<std::string> tls_;
  int port_ = 0;
  int peer_port_ = 0;
  pid_t pid_ = -1;
};

// Says the same to everybody, or nothing at all, and holds the line.
class OddServer {
 public:
  explicit OddServer(const std::string& answer);
  OddServer(const OddServer&) = delete;
  OddServer& operator=(const OddServer&) = delete;
  ~OddServer();

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  pid_t pid_ = -1;
};

// Where nobody listens.
int free_port();

}  // namespace paddle_launch
