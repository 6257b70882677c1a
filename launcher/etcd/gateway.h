// SPDX-License-Identifier: Apache-2.0
// etcd's JSON gateway as text: what it is asked, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/etcd/etcd.h"

namespace paddle_launch {

// What etcd's JSON gateway is asked, as text. Keys are given without the prefix.
inline constexpr const char* kRangePath = "/v3/kv/range";
inline constexpr const char* kTxnPath = "/v3/kv/txn";
inline constexpr const char* kWatchPath = "/v3/watch";
inline constexpr const char* kGrantPath = "/v3/lease/grant";
inline constexpr const char* kKeepAlivePath = "/v3/lease/keepalive";
inline constexpr const char* kRevokePath = "/v3/lease/revoke";
inline constexpr const char* kAuthenticatePath = "/v3/auth/authenticate";

struct LeaseIds {
  std::int64_t pod = 0;
  std::int64_t job = 0;
};

// All keys of the prefix.
std::string range_request(std::string_view prefix);
std::string watch_request(std::string_view prefix, std::int64_t from_revision);
std::string txn_request(std::string_view prefix, const EtcdChange& change, const LeaseIds& leases);
std::string grant_request(std::chrono::seconds ttl);
// For keeping it alive and for giving it back.
std::string lease_request(std::int64_t lease);
std::string authenticate_request(const std::string& user, const std::string& password);

// What etcd's JSON gateway answers. Nothing in it is trusted: whatever is not as it should be is no
// answer.
enum class Verdict {
  Fine,
  BadToken,       // a new one is needed
  NeedsUser,      // and none was named
  WrongPassword,  // or user
  AuthIsOff,      // so nobody can log in, and nobody needs to
  Denied,
  LeaseGone,
  Unavailable,  // this server cannot now; another one may
  Refused,      // for another reason, in etcd's own words
  NotEtcd,
};

struct Judgement {
  Verdict verdict = Verdict::NotEtcd;
  std::string words{};      // etcd's own, or what is odd about the answer
  bool has_remedy = false;  // the words name one
};

Judgement judge(int http_status, std::string_view body);

struct RangeAnswer {
  std::int64_t revision = 0;
  std::vector<EtcdEntry> entries{};
};

struct WatchEvent {
  bool is_delete = false;
  EtcdEntry entry{};  // of a delete: the key only
};

struct WatchAnswer {
  bool is_created = false;
  bool is_over = false;              // cancelled by the server, or an error
  std::string words{};               // of is_over
  std::vector<WatchEvent> events{};  // in their order
};

std::optional<RangeAnswer> read_range(std::string_view body, std::string_view prefix);
// One line of the stream.
std::optional<WatchAnswer> read_watch(std::string_view line, std::string_view prefix);
// Whether the comparisons held.
std::optional<bool> read_txn(std::string_view body);
std::optional<std::int64_t> read_grant(std::string_view body);
// How long the lease lasts from now; 0: it is gone.
std::optional<std::int64_t> read_keep_alive(std::string_view body);
std::optional<std::string> read_token(std::string_view body);

}  // namespace paddle_launch
