// SPDX-License-Identifier: Apache-2.0
// Frames of any length over a socket that is never waited for: what the other end does not take yet
// is kept.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

class FramePipe {
 public:
  FramePipe() = default;
  // Takes the socket.
  explicit FramePipe(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool is_open() const { return static_cast<bool>(socket_); }

  // Sends what it can at once.
  void push(std::string_view frame);
  void flush();
  bool has_backlog() const { return sent_ < outgoing_.size(); }

  // Reads what is there. False: the other end is gone; frames that came before may still be taken.
  bool receive();
  std::optional<std::string> next();

 private:
  UniqueFd socket_;
  std::string outgoing_;
  std::size_t sent_ = 0;
  std::string incoming_;
  std::size_t taken_ = 0;
};

}  // namespace paddle_launch
