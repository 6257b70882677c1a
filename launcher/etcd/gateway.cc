// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/gateway.h"

#include <nlohmann/json.hpp>

#include "launcher/text/bytes_as_text.h"

namespace paddle_launch {
namespace {

using nlohmann::json;

// A password that is no UTF-8 is a wrong password, not the end of this process.
std::string text_of(const json& request) {
  return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The gateway takes 64-bit numbers as text.
std::string number(std::int64_t value) { return std::to_string(value); }

// The first key after all that begin with the prefix. It ends with a slash, so the last byte can
// always be counted up.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  ++end.back();
  return end;
}

json whole(std::string_view prefix) {
  return {{"key", to_base64(prefix)}, {"range_end", to_base64(end_of(prefix))}};
}

std::string key_of(std::string_view prefix, const std::string& key) {
  return to_base64(std::string(prefix) + key);
}

json comparison(std::string_view prefix, const EtcdCompare& compare) {
  json asked = {{"key", key_of(prefix, compare.key)}, {"result", "EQUAL"}};
  switch (compare.what) {
    case EtcdCompare::What::Absent:
      asked["target"] = "CREATE";
      asked["create_revision"] = number(0);
      break;
    case EtcdCompare::What::Created:
      asked["target"] = "CREATE";
      asked["create_revision"] = number(compare.revision);
      break;
    case EtcdCompare::What::Modified:
      asked["target"] = "MOD";
      asked["mod_revision"] = number(compare.revision);
      break;
  }
  return asked;
}

json put_request(std::string_view prefix, const EtcdPut& put, const LeaseIds& leases) {
  json asked = {{"key", key_of(prefix, put.key)}, {"value", to_base64(put.value)}};
  if (put.lease == EtcdLease::Pod) asked["lease"] = number(leases.pod);
  if (put.lease == EtcdLease::Job) asked["lease"] = number(leases.job);
  return {{"request_put", std::move(asked)}};
}

}  // namespace

std::string range_request(std::string_view prefix) { return text_of(whole(prefix)); }

std::string watch_request(std::string_view prefix, std::int64_t from_revision) {
  json asked = whole(prefix);
  asked["start_revision"] = number(from_revision);
  return text_of({{"create_request", std::move(asked)}});
}

std::string txn_request(std::string_view prefix, const EtcdChange& change, const LeaseIds& leases) {
  json compare = json::array();
  for (const EtcdCompare& one : change.only_if) compare.push_back(comparison(prefix, one));
  json success = json::array();
  if (change.delete_all) success.push_back({{"request_delete_range", whole(prefix)}});
  for (const std::string& key : change.deletes) {
    success.push_back({{"request_delete_range", {{"key", key_of(prefix, key)}}}});
  }
  for (const EtcdPut& put : change.puts) success.push_back(put_request(prefix, put, leases));
  return text_of({{"compare", std::move(compare)}, {"success", std::move(success)}});
}

std::string grant_request(std::chrono::seconds ttl) {
  return text_of({{"TTL", number(ttl.count())}});
}

std::string lease_request(std::int64_t lease) { return text_of({{"ID", number(lease)}}); }

std::string authenticate_request(const std::string& user, const std::string& password) {
  return text_of({{"name", user}, {"password", password}});
}

}  // namespace paddle_launch
