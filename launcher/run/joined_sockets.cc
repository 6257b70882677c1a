// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/joined_sockets.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "launcher/os/sockets.h"

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

}  // namespace paddle_launch
