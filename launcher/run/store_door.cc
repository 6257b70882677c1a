// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/store_door.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "launcher/os/tcp.h"

namespace paddle_launch {
namespace {

constexpr int kBacklog = 4096;
constexpr std::chrono::milliseconds kBetweenLooks{5};
// After an error like "too many open files" the next try would meet the same one.
constexpr std::chrono::milliseconds kRest{100};

bool is_worth_another_try(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == ENETDOWN;
}

}  // namespace

StoreDoor::StoreDoor(EventLoop& loop, const StoreDoorSettings& settings)
    : loop_(loop),
      store_port_(settings.store_port),
      listener_(listen_on(settings.address, settings.port, kBacklog)),
      look_again_(loop),
      rest_(loop) {
  listen_again();
}

StoreDoor::~StoreDoor() { close(); }

void StoreDoor::listen_again() {
  loop_.on_readable(listener_.get(), [this] { let_in(); });
}

void StoreDoor::let_in() {
  for (;;) {
    UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client) {
      waiting_.push_back({.client = std::move(client)});
      continue;
    }
    if (is_worth_another_try(errno)) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    loop_.forget(listener_.get());
    rest_.set(kRest, [this] { listen_again(); });
    break;
  }
  look_for_store();
}

void StoreDoor::look_for_store() {
  look_again_.stop();
  for (auto guest = waiting_.begin(); guest != waiting_.end(); ++guest) {
    if (guest->attempt) continue;
    try {
      guest->attempt = begin_connect(INADDR_LOOPBACK, store_port_);
      loop_.on_writable(guest->attempt.get(), [this, guest] { attempt_ended(guest); });
    } catch (const std::system_error&) {
      // Not there yet, and so for none of the others.
      return look_again_.set(kBetweenLooks, [this] { look_for_store(); });
    }
  }
}

void StoreDoor::attempt_ended(std::list<Guest>::iterator guest) {
  const int error = connect_result(guest->attempt.get());
  if (error == ENOTCONN) return;
  loop_.forget(guest->attempt.get());
  if (error == 0) return join(guest);
  guest->attempt.reset();
  if (!look_again_.is_set()) look_again_.set(kBetweenLooks, [this] { look_for_store(); });
}

void StoreDoor::join(std::list<Guest>::iterator guest) {
  joined_.emplace_front();
  const auto place = joined_.begin();
  *place =
      std::make_unique<JoinedSockets>(loop_, std::move(guest->client), std::move(guest->attempt),
                                      [this, place] { joined_.erase(place); });
  waiting_.erase(guest);
}

void StoreDoor::rank_zero_is_gone() {
  close();
  // Each may take itself out of the list.
  for (auto next = joined_.begin(); next != joined_.end();) (*next++)->server_is_gone();
}

void StoreDoor::close() {
  rest_.stop();
  look_again_.stop();
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
  for (const Guest& guest : waiting_) {
    if (guest.attempt) loop_.forget(guest.attempt.get());
  }
  waiting_.clear();
}

}  // namespace paddle_launch
