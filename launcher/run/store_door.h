// SPDX-License-Identifier: Apache-2.0
// The door of the store that Paddle's rank 0 opens when it is ready, and in which all ranks meet. A
// rank that comes before the store is open would sleep for 3 seconds and try again. So the launcher
// of rank 0 listens in its place from the start, lets everybody in, and joins each to the store the
// moment that it is there. Nobody at the door: nothing is done.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "launcher/os/alarm.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"
#include "launcher/run/joined_sockets.h"

namespace paddle_launch {

struct StoreDoorSettings {
  std::uint32_t address = 0;  // where the others knock; 0: all addresses of this host
  int port = 0;
  int store_port = 0;  // where rank 0 will listen, on this host
};

class StoreDoor {
 public:
  // Open at once. Throws std::system_error.
  StoreDoor(EventLoop& loop, const StoreDoorSettings& settings);
  StoreDoor(const StoreDoor&) = delete;
  StoreDoor& operator=(const StoreDoor&) = delete;
  ~StoreDoor();

  // Nobody is let in any more, and nobody waits in vain.
  void rank_zero_is_gone();

 private:
  struct Guest {
    UniqueFd client;
    UniqueFd attempt{};  // to reach the store
  };

  void let_in();
  void listen_again();
  void look_for_store();
  void attempt_ended(std::list<Guest>::iterator guest);
  void join(std::list<Guest>::iterator guest);
  void close();

  EventLoop& loop_;
  int store_port_;
  UniqueFd listener_;
  std::list<Guest> waiting_;
  std::list<std::unique_ptr<JoinedSockets>> joined_;
  Alarm look_again_;
  Alarm rest_;
};

}  // namespace paddle_launch
