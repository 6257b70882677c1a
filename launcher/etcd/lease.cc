// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/lease.h"

#include <algorithm>
#include <utility>

#include "launcher/etcd/gateway.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBetweenTries{1000};

milliseconds between_beats(std::chrono::seconds ttl) {
  return std::max<milliseconds>(milliseconds(ttl) / 3, milliseconds(200));
}

}  // namespace

Lease::Lease(EtcdClient& client, std::chrono::seconds ttl, KeeperEvents& events)
    : client_(client), ttl_(ttl), events_(events) {}

void Lease::set(std::int64_t id, bool is_ours) {
  if (id == id_ && is_ours == is_ours_) return;
  id_ = id;
  is_ours_ = is_ours;
  events_.on_lease();
}

void Lease::hold(std::int64_t id, bool is_ours) {
  next_beat_ = steady_clock::now();
  set(id, is_ours);
}

void Lease::adopt(std::int64_t id) {
  if (id == id_) return;
  // Not where it is only forgotten: others may have taken it over by now.
  if (id != 0 && is_ours_) revoke(steady_clock::now() + kToAnswer, [] {});
  hold(id, false);
}

void Lease::grant(Moment deadline, std::function<void(const std::string&)> done) {
  client_.call({.path = kGrantPath, .body = grant_request(ttl_), .deadline = deadline},
               [this, done = std::move(done)](const EtcdReply& reply) {
                 if (!reply.is_fine) return done(reply.problem);
                 const auto id = read_grant(reply.body);
                 if (!id)
                   return done(client_.with_address("answers, but not as etcd does (no lease)"));
                 next_beat_ = steady_clock::now() + between_beats(ttl_);
                 set(*id, true);
                 done({});
               });
}

void Lease::ask(std::function<void()> done) {
  if (id_ == 0) return done();
  is_asking_ = true;
  client_.call(
      {.path = kKeepAlivePath,
       .body = lease_request(id_),
       .deadline = client_.deadline_for_all(),
       // There must be time to try another server before the lease runs out.
       .patience = std::clamp<milliseconds>(between_beats(ttl_), kBetweenTries, kToAnswer)},
      [this, id = id_, done = std::move(done)](const EtcdReply& reply) {
        is_asking_ = false;
        take_beat(id, reply);
        done();
      });
}

void Lease::take_beat(std::int64_t id, const EtcdReply& reply) {
  if (id != id_) return;  // replaced in the meantime
  const auto ttl = reply.is_fine ? read_keep_alive(reply.body) : std::nullopt;
  if (reply.is_lease_gone || (ttl && *ttl <= 0)) return set(0, false);
  next_beat_ = steady_clock::now() + between_beats(ttl_);
  if (ttl) return;
  next_beat_ = std::min(next_beat_, steady_clock::now() + kBetweenTries);
  if (reply.is_unreachable) events_.on_silence();
}

void Lease::revoke(Moment deadline, std::function<void()> done) {
  const std::int64_t id = std::exchange(id_, 0);
  is_ours_ = false;
  if (id == 0) return done();
  client_.call({.path = kRevokePath, .body = lease_request(id), .deadline = deadline},
               [done = std::move(done)](const EtcdReply&) { done(); });
}

Moment Lease::due() const { return id_ == 0 || is_asking_ ? Moment::max() : next_beat_; }

void Lease::on_time(Moment now) {
  if (now >= due()) ask([] {});
}

void Lease::ask_soon() { next_beat_ = steady_clock::now(); }

}  // namespace paddle_launch
