// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/etcd_client.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/etcd/gateway.h"

namespace paddle_launch {
namespace {

using Kind = EtcdProblem::Kind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

}  // namespace

struct EtcdClient::Open {
  EtcdCall call{};
  Done done{};
  std::size_t tried = 0;
  std::size_t server = 0;          // asked now
  bool has_renewed = false;        // the token
  bool has_remedy = false;         // one of the reasons names one
  std::vector<std::string> why{};  // of each server in the order of the endpoints; empty: not tried
};

EtcdClient::EtcdClient(Http& http, EtcdSpec spec, std::string prefix)
    : http_(http), spec_(std::move(spec)), prefix_(std::move(prefix)) {}

Moment EtcdClient::deadline_for_all() const {
  return steady_clock::now() + kToAnswer * std::max<std::size_t>(1, spec_.endpoints.size());
}

std::string EtcdClient::with_address(std::string_view words) const {
  return fmt::format("{}: {}", spec_.endpoints[server_], words);
}

HttpRequest EtcdClient::request(const char* path, std::string body) const {
  return {
      .url = fmt::format("{}://{}{}", spec_.tls ? "https" : "http", spec_.endpoints[server_], path),
      .body = std::move(body),
      .token = token_};
}

void EtcdClient::call(EtcdCall call, Done done) {
  auto open = std::make_shared<Open>();
  open->call = std::move(call);
  open->done = std::move(done);
  open->why.resize(spec_.endpoints.size());
  try_one(open);
}

Http::Id EtcdClient::stream(const char* path, std::string body, Http::Arrived arrived,
                            Http::Done ended) {
  return http_.post(request(path, std::move(body)), std::move(ended), std::move(arrived));
}

void EtcdClient::try_one(const OpenCall& open) {
  open->server = server_;
  const auto left = std::chrono::ceil<milliseconds>(open->call.deadline - steady_clock::now());
  // libcurl takes 0 for no end at all.
  const milliseconds timeout = std::clamp<milliseconds>(left, milliseconds(1), open->call.patience);
  if (!spec_.user.empty() && token_.empty() && !auth_is_off_) return authenticate(open, timeout);
  HttpRequest asked = request(open->call.path, open->call.body);
  asked.timeout = timeout;
  asked.is_single = !open->call.may_repeat || open->call.is_fresh;
  http_.post(std::move(asked), [this, open](const HttpReply& reply) { take_reply(open, reply); });
}

void EtcdClient::authenticate(const OpenCall& open, milliseconds timeout) {
  HttpRequest asked = request(kAuthenticatePath, authenticate_request(spec_.user, spec_.password));
  asked.timeout = timeout;
  http_.post(std::move(asked), [this, open](const HttpReply& reply) { take_token(open, reply); });
}

void EtcdClient::take_token(const OpenCall& open, const HttpReply& reply) {
  open->has_remedy = open->has_remedy || reply.has_remedy;
  if (!reply.has_come) return try_next(open, open->server, reply.problem);
  const Judgement judgement = judge(reply.status, reply.body);
  open->has_remedy = open->has_remedy || judgement.has_remedy;
  if (judgement.verdict == Verdict::AuthIsOff) {
    auth_is_off_ = true;
    return try_one(open);
  }
  const auto token = read_token(reply.body);
  if (judgement.verdict == Verdict::Fine && token) {
    token_ = *token;
    return try_one(open);
  }
  if (judgement.verdict == Verdict::WrongPassword) return refuse(open, open->server, judgement);
  try_next(open, open->server,
           judgement.verdict == Verdict::Fine ? "gives no token" : words_of(judgement));
}

void EtcdClient::take_reply(const OpenCall& open, const HttpReply& reply) {
  const bool may_go_on = open->call.may_repeat || !reply.was_sent;
  open->has_remedy = open->has_remedy || reply.has_remedy;
  if (!reply.has_come) {
    if (!may_go_on) open->tried = spec_.endpoints.size();
    return try_next(open, open->server, reply.problem);
  }
  const Judgement judgement = judge(reply.status, reply.body);
  open->has_remedy = open->has_remedy || judgement.has_remedy;
  switch (judgement.verdict) {
    case Verdict::Fine:
      return open->done({.is_fine = true, .body = reply.body});
    case Verdict::BadToken:
    case Verdict::NeedsUser:
      if (spec_.user.empty() || open->has_renewed) break;
      open->has_renewed = true;
      auth_is_off_ = false;
      token_.clear();
      return try_one(open);
    case Verdict::Unavailable:
    case Verdict::NotEtcd:
      if (!may_go_on) open->tried = spec_.endpoints.size();
      return try_next(open, open->server, words_of(judgement));
    default:
      break;
  }
  refuse(open, open->server, judgement);
}

void EtcdClient::try_next(const OpenCall& open, std::size_t server, const std::string& words) {
  const std::size_t servers = spec_.endpoints.size();
  open->why[server] = fmt::format("{}: {}", spec_.endpoints[server], words);
  // Another call may have gone on to the next one already.
  if (server_ == server) server_ = (server + 1) % servers;
  if (++open->tried < servers && steady_clock::now() < open->call.deadline) return try_one(open);
  std::vector<std::string> why;
  std::copy_if(open->why.begin(), open->why.end(), std::back_inserter(why),
               [](const std::string& one) { return !one.empty(); });
  open->done({.is_unreachable = true,
              .kind = open->has_remedy ? Kind::Explained : Kind::Unexplained,
              .problem = fmt::format("{}", fmt::join(why, "; "))});
}

void EtcdClient::refuse(const OpenCall& open, std::size_t server, const Judgement& judgement) {
  const bool lets_nobody_in = judgement.verdict == Verdict::WrongPassword ||
                              judgement.verdict == Verdict::NeedsUser ||
                              judgement.verdict == Verdict::Denied;
  open->done({.is_lease_gone = judgement.verdict == Verdict::LeaseGone,
              .kind = lets_nobody_in ? Kind::Refusal : Kind::Unexplained,
              .problem = fmt::format("{}: {}", spec_.endpoints[server], words_of(judgement))});
}

std::string EtcdClient::words_of(const Judgement& judgement) const {
  switch (judgement.verdict) {
    case Verdict::WrongPassword:
      return fmt::format(
          "user {}: authentication failed, wrong user or password; check --etcd_user and the "
          "variable "
          "PADDLE_ETCD_PASSWORD",
          spec_.user);
    case Verdict::NeedsUser:
      return "it lets only known users in; give one with --etcd_user=NAME and the password in the "
             "variable PADDLE_ETCD_PASSWORD";
    case Verdict::Denied:
      return fmt::format(
          "user {}: permission denied; the user must be allowed to read and write the keys that "
          "begin with {}",
          spec_.user, prefix_);
    default:
      return judgement.words;
  }
}

}  // namespace paddle_launch
