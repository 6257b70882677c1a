// SPDX-License-Identifier: Apache-2.0
// Requests to whichever of the servers answers, as the user that was named.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/etcd/etcd_problem.h"
#include "launcher/etcd/gateway.h"
#include "launcher/etcd/http.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

using Moment = std::chrono::steady_clock::time_point;

// The longest a server may take.
inline constexpr std::chrono::seconds kToAnswer{5};

struct EtcdCall {
  const char* path = "";
  std::string body{};
  Moment deadline{};                              // for all tries together
  std::chrono::milliseconds patience{kToAnswer};  // for one
  // False: once a server may have seen it, it is not sent again.
  bool may_repeat = true;
  // Over a new connection: one that was kept may lead nowhere, which shows much later.
  bool is_fresh = false;
};

struct EtcdReply {
  bool is_fine = false;
  bool is_unreachable = false;  // no server answered as it should
  bool is_lease_gone = false;
  std::string body{};
  EtcdProblem::Kind kind = EtcdProblem::Kind::None;
  std::string problem{};  // with the address
};

// Who hears what the parts of a keeper (leases, watch, changes) find out.
class KeeperEvents {
 public:
  virtual void on_lease() = 0;    // a lease has another id or owner
  virtual void on_silence() = 0;  // no server took a change or a sign of life
  virtual void on_entries() = 0;  // a key has changed; and once after the first look
  // When it changes, and once at the start; empty: the server answers.
  virtual void on_connection(const EtcdProblem& problem) = 0;
  virtual void on_answer(const EtcdAnswer& answer) = 0;  // to the oldest change

 protected:
  ~KeeperEvents() = default;
};

class EtcdClient {
 public:
  using Done = std::function<void(const EtcdReply&)>;

  EtcdClient(Http& http, EtcdSpec spec, std::string prefix);

  void call(EtcdCall call, Done done);
  // The time that each of the servers may be tried in.
  Moment deadline_for_all() const;

  // To the server that answered last, without an end of its own.
  Http::Id stream(const char* path, std::string body, Http::Arrived arrived, Http::Done ended);
  void cancel(Http::Id stream) { http_.cancel(stream); }

  // "10.0.0.1:2379: connection refused", of the server that is asked at the time.
  std::string with_address(std::string_view words) const;

 private:
  struct Open;
  using OpenCall = std::shared_ptr<Open>;

  HttpRequest request(const char* path, std::string body) const;
  void try_one(const OpenCall& open);
  void authenticate(const OpenCall& open, std::chrono::milliseconds timeout);
  void take_token(const OpenCall& open, const HttpReply& reply);
  void take_reply(const OpenCall& open, const HttpReply& reply);
  void try_next(const OpenCall& open, std::size_t server, const std::string& words);
  void refuse(const OpenCall& open, std::size_t server, const Judgement& judgement);
  std::string words_of(const Judgement& judgement) const;

  Http& http_;
  EtcdSpec spec_;
  std::string prefix_;
  std::size_t server_ = 0;  // of the endpoints
  std::string token_;
  bool auth_is_off_ = false;
};

}  // namespace paddle_launch
