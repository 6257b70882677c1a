// SPDX-License-Identifier: Apache-2.0
// Two connections made one: what comes in on either goes out on the other, in order and without a
// loss, as far as both ends live. Nothing is read that the other side cannot take yet.
#pragma once

#include <functional>
#include <string>

#include "launcher/os/event_loop.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

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

}  // namespace paddle_launch
