// SPDX-License-Identifier: Apache-2.0
// Paddle's ranks meet in a store that rank 0 opens when it is ready. A rank that comes before the
// store is open would sleep for 3 seconds and try again. So the launcher of rank 0 listens in its
// place from the start, lets everybody in, and joins each connection to the store the moment that
// the store is there: docs/decisions/0027. Anybody can connect, so a connection whose other end is
// gone is dropped, and there is a limit. While nobody is connected, nothing is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "launcher/job/plan.h"
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

struct StoreRelaySettings {
  std::uint32_t address = 0;  // where the others connect; 0: all addresses of this host
  int port = 0;
  int store_port = 0;  // where rank 0 will listen, on this host
  // That the limit of those who wait is reached; once.
  std::function<void(const std::string&)> tell{};
};

class StoreRelay {
 public:
  // Open at once. Throws std::system_error.
  StoreRelay(EventLoop& loop, const StoreRelaySettings& settings);
  StoreRelay(const StoreRelay&) = delete;
  StoreRelay& operator=(const StoreRelay&) = delete;
  ~StoreRelay();

  // Nobody is let in any more; who waits sees the end of the connection.
  void rank_zero_is_gone();

 private:
  struct Held {
    UniqueFd client;
    UniqueFd attempt{};  // to reach the store
  };

  using Place = std::list<Held>::iterator;

  void let_in();
  void hold(UniqueFd client);
  void listen_again();
  bool is_full();
  void look_at(Place held);
  void drop(Place held);
  void look_for_store();
  bool try_store_for(Place held);
  void try_store_for_all();
  void look_again_soon();
  void attempt_ended(Place held);
  void join(Place held);
  void close();

  EventLoop& loop_;
  int store_port_;
  std::function<void(const std::string&)> tell_;
  UniqueFd listener_;
  std::size_t most_waiting_;
  bool is_full_ = false;
  std::list<Held> waiting_;
  std::list<Held> trying_;  // an attempt to reach the store is under way
  std::list<std::unique_ptr<JoinedSockets>> joined_;
  Alarm look_again_;
  Alarm rest_;
};

// Before the first trainer starts. `warn` is called while the relay lives. Throws LaunchError.
std::unique_ptr<StoreRelay> open_store_relay(EventLoop& loop, const StoreRelayPlace& place,
                                             std::function<void(const std::string&)> warn);

}  // namespace paddle_launch
