// SPDX-License-Identifier: Apache-2.0
// What etcd's JSON gateway is asked, as text. Keys are given without the prefix.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/etcd/etcd.h"

namespace paddle_launch {

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

}  // namespace paddle_launch
