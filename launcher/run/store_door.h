// SPDX-License-Identifier: Apache-2.0
// The door of the store that Paddle's rank 0 opens when it is ready, and in which all ranks meet. A
// rank that comes before the store is open would sleep for 3 seconds and try again. So the launcher
// of rank 0 listens in its place from the start, lets everybody in, and joins each to the store the
// moment that it is there. Anybody may knock, so whoever goes again is let go, and there is a
// limit. Nobody at the door: nothing is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

// Two connections made one: what comes in on either goes out on the other, in order and without a
// loss, as far as both ends live. Nothing is read that the other side cannot take yet.
class JoinedSockets {
 public:
  // `ended`: both have nothing more to say, or one was lost. The owner may destroy this inside it.
  JoinedSockets(EventLoop& loop, UniqueFd client, UniqueFd server, std::function<void()> ended);
  JoinedSockets(const JoinedSockets&) = delete;
  JoinedSockets& operator=(const JoinedSockets&) = delete;
  ~JoinedSockets();

  // What it wrote still goes to the client; then it is over, whoever else may hold a copy of the
  // server's end.
  void server_is_gone();

 private:
  struct Flow {
    int from = -1;
    int to = -1;
    std::string unsent{};
    bool is_last_look = false;  // what is not there yet will never come
    bool has_ended = false;     // `from` said its last
    bool is_over = false;       // and `to` was told
  };

  void move_both();
  bool take_in(Flow& flow);
  bool move(Flow& flow);
  void watch();
  void watch(int fd, const Flow& out, const Flow& in);

  EventLoop& loop_;
  UniqueFd client_;
  UniqueFd server_;
  std::function<void()> ended_;
  Flow to_server_;
  Flow to_client_;
};

struct StoreDoorSettings {
  std::uint32_t address = 0;  // where the others knock; 0: all addresses of this host
  int port = 0;
  int store_port = 0;  // where rank 0 will listen, on this host
  // That the limit of those who wait is reached; once.
  std::function<void(const std::string&)> tell{};
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

  using Place = std::list<Guest>::iterator;

  void let_in();
  void receive(UniqueFd client);
  void listen_again();
  bool is_full();
  void look_at(Place guest);
  void let_go(Place guest);
  void look_for_store();
  bool call_store_for(Place guest);
  void call_store_for_all();
  void look_again_soon();
  void attempt_ended(Place guest);
  void join(Place guest);
  void close();

  EventLoop& loop_;
  int store_port_;
  std::function<void(const std::string&)> tell_;
  UniqueFd listener_;
  std::size_t most_waiting_;
  bool is_full_ = false;
  std::list<Guest> waiting_;
  std::list<Guest> called_for_;  // an attempt to reach the store is under way
  std::list<std::unique_ptr<JoinedSockets>> joined_;
  Alarm look_again_;
  Alarm rest_;
};

}  // namespace paddle_launch
