// SPDX-License-Identifier: Apache-2.0
// What becomes of a connection to PADDLE_MASTER, in three lists:
//
//   waiting_   held; while there are some, one of them tries the store every 5 ms
//   trying_    an attempt to reach the store for it is under way; back to waiting_ when it fails.
//              The first that succeeds makes all others try at once
//   joined_    bytes are passed on both ways, until both ends are over or one is lost
//
// A waiting connection that ends without a word is dropped. When rank 0 is gone, waiting and trying
// ones are closed, and joined ones end when the store's last bytes are with the client.
#include "launcher/run/store_relay.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

// False: the connection is lost.
bool send_some(int fd, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return would_block();
    bytes.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

JoinedSockets::JoinedSockets(EventLoop& loop, UniqueFd client, UniqueFd server,
                             std::function<void()> ended)
    : loop_(loop),
      client_(std::move(client)),
      server_(std::move(server)),
      ended_(std::move(ended)),
      to_server_{.from = client_.get(), .to = server_.get()},
      to_client_{.from = server_.get(), .to = client_.get()} {
  set_no_delay(client_.get());
  set_no_delay(server_.get());
  watch();
}

JoinedSockets::~JoinedSockets() {
  loop_.forget(client_.get());
  loop_.forget(server_.get());
}

// Until there is nothing more, or no room for it. False: a connection is lost.
bool JoinedSockets::take_in(Flow& flow) {
  static std::array<char, kPiece> piece;  // one thread, one loop
  while (flow.unsent.empty() && !flow.has_ended) {
    const ssize_t size = recv(flow.from, piece.data(), piece.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && !would_block()) return false;
    flow.has_ended = size == 0 || (size < 0 && flow.is_last_look);
    if (size <= 0) break;
    flow.unsent.assign(piece.data(), static_cast<std::size_t>(size));
    if (!send_some(flow.to, flow.unsent)) return false;
  }
  return true;
}

bool JoinedSockets::move(Flow& flow) {
  if (!send_some(flow.to, flow.unsent) || !take_in(flow)) return false;
  if (flow.has_ended && flow.unsent.empty() && !std::exchange(flow.is_over, true)) {
    shutdown(flow.to, SHUT_WR);
  }
  return true;
}

void JoinedSockets::move_both() {
  const bool both_live = move(to_client_) && move(to_server_);
  if (both_live && !(to_client_.is_over && to_server_.is_over)) return watch();
  const std::function<void()> ended = std::move(ended_);  // this object may go away inside
  ended();
}

void JoinedSockets::server_is_gone() {
  to_client_.is_last_look = true;
  to_server_ = {.from = -1, .to = -1, .has_ended = true, .is_over = true};
  move_both();
}

void JoinedSockets::watch() {
  watch(client_.get(), to_server_, to_client_);
  watch(server_.get(), to_client_, to_server_);
}

// A socket of which nothing is wanted is taken out: the kernel would go on telling of its end.
void JoinedSockets::watch(int fd, const Flow& out, const Flow& in) {
  const bool wants_to_read = out.unsent.empty() && !out.has_ended;
  const bool wants_to_write = !in.unsent.empty();
  if (!wants_to_read && !wants_to_write) return loop_.forget(fd);
  const auto call = [this] { move_both(); };
  loop_.on_readable(fd, wants_to_read ? EventLoop::Callback(call) : EventLoop::Callback());
  loop_.on_writable(fd, wants_to_write ? EventLoop::Callback(call) : EventLoop::Callback());
}

namespace {

constexpr int kBacklog = 4096;
constexpr std::chrono::milliseconds kBetweenLooks{5};
// After an error like "too many open files" the next try would meet the same one.
constexpr std::chrono::milliseconds kRest{100};

constexpr rlim_t kMostWaiting = 16384;

// The launcher needs descriptors for other things, and each connection two once the store is there.
std::size_t most_that_may_wait() {
  rlimit open_files{};
  if (getrlimit(RLIMIT_NOFILE, &open_files) != 0) return kMostWaiting;
  return std::max<rlim_t>(1, std::min(kMostWaiting, open_files.rlim_cur / 4));
}

bool is_worth_another_try(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == ENETDOWN;
}

}  // namespace

StoreRelay::StoreRelay(EventLoop& loop, const StoreRelaySettings& settings)
    : loop_(loop),
      store_port_(settings.store_port),
      tell_(settings.tell),
      listener_(listen_on(settings.address, settings.port, kBacklog)),
      most_waiting_(most_that_may_wait()),
      look_again_(loop),
      rest_(loop) {
  listen_again();
}

StoreRelay::~StoreRelay() { close(); }

void StoreRelay::listen_again() {
  is_full_ = false;
  loop_.on_readable(listener_.get(), [this] { let_in(); });
}

void StoreRelay::let_in() {
  while (!is_full()) {
    UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client) {
      hold(std::move(client));
      continue;
    }
    if (is_worth_another_try(errno)) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    loop_.forget(listener_.get());
    rest_.set(kRest, [this] { listen_again(); });
    break;
  }
  if (!look_again_.is_set()) look_for_store();
}

// Who comes then stays in the kernel's queue until there is room.
bool StoreRelay::is_full() {
  const std::size_t count = waiting_.size() + trying_.size();
  if (count < most_waiting_) return false;
  loop_.forget(listener_.get());
  is_full_ = true;
  if (const auto tell = std::exchange(tell_, nullptr)) {
    tell(
        fmt::format("{} connections wait at PADDLE_MASTER until rank 0 opens its store; no more "
                    "are let in until then, or until some of them go",
                    count));
  }
  return true;
}

void StoreRelay::hold(UniqueFd client) {
  const auto held = waiting_.insert(waiting_.end(), {.client = std::move(client)});
  loop_.on_readable(held->client.get(), [this, held] { look_at(held); });
}

// What a client has said is for the store, which may also answer a client that has shut its side
// down: it is held, and the loop need not look at it again. Who goes without a word is dropped.
void StoreRelay::look_at(Place held) {
  char first = 0;
  const ssize_t size = recv(held->client.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (size > 0) return loop_.forget(held->client.get());
  if (size < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
  drop(held);
}

void StoreRelay::drop(Place held) {
  loop_.forget(held->client.get());
  const bool was_trying = static_cast<bool>(held->attempt);
  if (was_trying) loop_.forget(held->attempt.get());
  (was_trying ? trying_ : waiting_).erase(held);
  if (is_full_) listen_again();
  if (was_trying) look_again_soon();
}

void StoreRelay::look_again_soon() {
  if (!look_again_.is_set()) look_again_.set(kBetweenLooks, [this] { look_for_store(); });
}

// One attempt for all, until it is over.
void StoreRelay::look_for_store() {
  if (trying_.empty() && !waiting_.empty()) try_store_for(waiting_.begin());
}

void StoreRelay::try_store_for_all() {
  while (!waiting_.empty() && try_store_for(waiting_.begin())) continue;
}

bool StoreRelay::try_store_for(Place held) {
  try {
    held->attempt = begin_connect(INADDR_LOOPBACK, store_port_);
    loop_.on_writable(held->attempt.get(), [this, held] { attempt_ended(held); });
  } catch (const std::system_error&) {
    held->attempt.reset();
    look_again_soon();
    return false;
  }
  trying_.splice(trying_.end(), waiting_, held);
  return true;
}

void StoreRelay::attempt_ended(Place held) {
  const int error = connect_result(held->attempt.get());
  if (error == ENOTCONN) return;
  loop_.forget(held->attempt.get());
  if (error == 0) {
    join(held);
    return try_store_for_all();
  }
  held->attempt.reset();
  waiting_.splice(waiting_.begin(), trying_, held);
  look_again_soon();
}

void StoreRelay::join(Place held) {
  loop_.forget(held->client.get());
  joined_.emplace_front();
  const auto place = joined_.begin();
  *place = std::make_unique<JoinedSockets>(loop_, std::move(held->client), std::move(held->attempt),
                                           [this, place] { joined_.erase(place); });
  trying_.erase(held);
  if (is_full_) listen_again();
}

void StoreRelay::rank_zero_is_gone() {
  close();
  // Each may take itself out of the list.
  for (auto next = joined_.begin(); next != joined_.end();) (*next++)->server_is_gone();
}

void StoreRelay::close() {
  rest_.stop();
  look_again_.stop();
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
  for (const Held& held : trying_) loop_.forget(held.attempt.get());
  waiting_.splice(waiting_.end(), trying_);
  for (const Held& held : waiting_) loop_.forget(held.client.get());
  waiting_.clear();
}

std::unique_ptr<StoreRelay> open_store_relay(EventLoop& loop, const StoreRelayPlace& place,
                                             std::function<void(const std::string&)> warn) {
  // A store listens on all addresses of its host, as this name may mean another one elsewhere.
  const auto address = parse_ipv4(place.host);
  const bool is_for_this_host = address && is_loopback(*address);
  try {
    return std::make_unique<StoreRelay>(
        loop, StoreRelaySettings{.address = is_for_this_host ? *address : 0,
                                 .port = place.port,
                                 .store_port = place.store_port,
                                 .tell = std::move(warn)});
  } catch (const std::system_error& error) {
    throw LaunchError(
        fmt::format("cannot receive the ranks at PADDLE_MASTER={}:{} in place of rank 0's store: "
                    "{}; start the job again, or leave that to rank 0 with --store_door=off",
                    place.host, place.port, error.code().message()));
  }
}

}  // namespace paddle_launch
