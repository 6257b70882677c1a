// SPDX-License-Identifier: Apache-2.0
// The words of etcd's JSON gateway, as seen from etcd 3.4 on. docs/elastic.md.
#include "launcher/etcd/gateway.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launcher/text/bytes_as_text.h"
#include "launcher/text/number.h"

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

namespace {

using nlohmann::json;

constexpr int kGood = 200;
constexpr std::size_t kLongestWords = 300;

// Discarded where it is no JSON.
json parse(std::string_view text) { return json::parse(text, nullptr, false); }

// Null where there is none.
const json& field(const json& object, const char* name) {
  static const json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

std::string text_in(const json& object, const char* name) {
  const json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// The gateway leaves fields away that are 0, and writes 64-bit numbers as text.
std::optional<std::int64_t> number_in(const json& object, const char* name) {
  const json& value = field(object, name);
  if (value.is_null()) return 0;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  return parse_whole_number(value.get_ref<const std::string&>());
}

bool flag_in(const json& object, const char* name) {
  const json& value = field(object, name);
  return value.is_boolean() && value.get<bool>();
}

// Without the prefix.
std::optional<std::string> key_in(const json& kv, std::string_view prefix) {
  std::optional<std::string> key = from_base64(text_in(kv, "key"));
  if (!key || !key->starts_with(prefix)) return std::nullopt;
  return key->substr(prefix.size());
}

std::optional<EtcdEntry> entry_in(const json& kv, std::string_view prefix) {
  std::optional<std::string> key = key_in(kv, prefix);
  std::optional<std::string> value = from_base64(text_in(kv, "value"));
  const auto created = number_in(kv, "create_revision");
  const auto modified = number_in(kv, "mod_revision");
  const auto lease = number_in(kv, "lease");
  if (!key || !value || !created || !modified || !lease) return std::nullopt;
  return EtcdEntry{std::move(*key), std::move(*value), *created, *modified, *lease};
}

// One line of an honest length, whatever the server says.
std::string tame(std::string words) {
  if (words.size() > kLongestWords) words.resize(kLongestWords);
  const auto is_control = [](char letter) { return static_cast<unsigned char>(letter) < ' '; };
  std::replace_if(words.begin(), words.end(), is_control, ' ');
  return words;
}

// Before etcd 3.6 the gateway says {"error":"…"} or {"error":{"message":"…"}}, later
// {"message":"…"}.
std::string error_in(const json& answer) {
  const json& error = field(answer, "error");
  if (error.is_string()) return error.get<std::string>();
  if (error.is_object()) return text_in(error, "message");
  return text_in(answer, "message");
}

// etcd begins with 1: an answer without is none of its.
std::optional<std::int64_t> revision_of(const json& answer) {
  const auto revision = number_in(field(answer, "header"), "revision");
  return revision && *revision > 0 ? revision : std::nullopt;
}

bool take_event(const json& event, std::string_view prefix, WatchAnswer& answer) {
  const json& kv = field(event, "kv");
  if (text_in(event, "type") == "DELETE") {
    std::optional<std::string> key = key_in(kv, prefix);
    if (!key) return false;
    answer.events.push_back({.is_delete = true, .entry = {.key = std::move(*key)}});
    return true;
  }
  std::optional<EtcdEntry> entry = entry_in(kv, prefix);
  if (!entry) return false;
  answer.events.push_back({.is_delete = false, .entry = std::move(*entry)});
  return true;
}

Verdict verdict_of(std::string_view words) {
  const auto says = [words](std::string_view part) {
    return words.find(part) != std::string_view::npos;
  };
  if (says("invalid auth token") || says("revision of auth store is old")) {
    return Verdict::BadToken;
  }
  if (says("user name is empty")) return Verdict::NeedsUser;
  if (says("authentication failed")) return Verdict::WrongPassword;
  if (says("authentication is not enabled")) return Verdict::AuthIsOff;
  if (says("permission denied")) return Verdict::Denied;
  if (says("requested lease not found")) return Verdict::LeaseGone;
  if (says("no leader") || says("timed out") || says("leader changed") || says("not capable") ||
      says("server stopped") || says("transport is closing") || says("connection error")) {
    return Verdict::Unavailable;
  }
  return Verdict::Refused;
}

}  // namespace

Judgement judge(int http_status, std::string_view body) {
  const json answer = parse(body);
  if (answer.is_object()) {
    std::string words = tame(error_in(answer));
    const Verdict verdict = verdict_of(words);
    if (!words.empty()) return {verdict, std::move(words), false};
    if (http_status == kGood) return {.verdict = Verdict::Fine};
  }
  // Go's own answer to plain HTTP at a port for TLS.
  if (body.find("HTTP request to an HTTPS server") != std::string_view::npos) {
    return {Verdict::NotEtcd,
            "speaks TLS; write https:// before the address or give --etcd_cacert=FILE", true};
  }
  return {Verdict::NotEtcd,
          http_status == kGood
              ? std::string("answers, but not as etcd does (no JSON)")
              : fmt::format("answers, but not as etcd does (HTTP {})", http_status),
          false};
}

std::optional<RangeAnswer> read_range(std::string_view body, std::string_view prefix) {
  const json answer = parse(body);
  const auto revision = revision_of(answer);
  const json& kvs = field(answer, "kvs");
  if (!revision || (!kvs.is_array() && !kvs.is_null())) return std::nullopt;
  RangeAnswer range{.revision = *revision};
  for (const json& kv : kvs) {
    std::optional<EtcdEntry> entry = entry_in(kv, prefix);
    if (!entry) return std::nullopt;
    range.entries.push_back(std::move(*entry));
  }
  return range;
}

std::optional<WatchAnswer> read_watch(std::string_view line, std::string_view prefix) {
  const json answer = parse(line);
  WatchAnswer watch;
  if (!field(answer, "error").is_null()) {
    watch.is_over = true;
    watch.words = tame(error_in(answer));
    return watch;
  }
  const json& result = field(answer, "result");
  const json& events = field(result, "events");
  if (!result.is_object() || (!events.is_array() && !events.is_null())) return std::nullopt;
  watch.is_created = flag_in(result, "created");
  watch.is_over = flag_in(result, "canceled");
  watch.words = tame(text_in(result, "cancel_reason"));
  for (const json& event : events) {
    if (!take_event(event, prefix, watch)) return std::nullopt;
  }
  return watch;
}

std::optional<bool> read_txn(std::string_view body) {
  const json answer = parse(body);
  if (!revision_of(answer)) return std::nullopt;
  return flag_in(answer, "succeeded");
}

std::optional<std::int64_t> read_grant(std::string_view body) {
  const auto id = number_in(parse(body), "ID");
  return id && *id != 0 ? id : std::nullopt;
}

std::optional<std::int64_t> read_keep_alive(std::string_view body) {
  const json answer = parse(body);
  const json& result = field(answer, "result");
  return result.is_object() ? number_in(result, "TTL") : std::nullopt;
}

std::optional<std::string> read_token(std::string_view body) {
  std::string token = text_in(parse(body), "token");
  const bool is_printable = std::all_of(token.begin(), token.end(),
                                        [](char letter) { return letter > ' ' && letter <= '~'; });
  if (token.empty() || !is_printable) return std::nullopt;
  return token;
}

}  // namespace paddle_launch
