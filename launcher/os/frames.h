// SPDX-License-Identifier: Apache-2.0
// Frames on a byte stream: a length of four bytes, then that many. Whoever reads strangers takes
// IncomingFrames and OutgoingFrames, whose sides never hold more than their limit; a process and a
// child of its own (os/child) talk over a FramePipe.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/os/unique_fd.h"

namespace paddle_launch {

class IncomingFrames {
 public:
  explicit IncomingFrames(std::size_t longest) : longest_(longest) {}

  void set_longest(std::size_t longest) { longest_ = longest; }
  void add(std::string_view bytes);
  // The next whole frame. What it points to lives until the next call.
  std::optional<std::string_view> next();
  // A frame was announced that is longer than allowed: nothing more comes out.
  bool is_oversize() const { return oversize_; }

 private:
  std::size_t longest_;
  std::string buffer_;
  std::size_t taken_ = 0;
  bool oversize_ = false;
};

class OutgoingFrames {
 public:
  void add(std::string_view frame);
  bool empty() const { return waiting_.empty(); }
  // The bytes to write next, in up to `most` pieces.
  std::vector<std::string_view> front(std::size_t most) const;
  void written(std::size_t bytes);
  // Sends what a socket takes at once, several frames in one segment: a proof, a clock and an offer
  // need not be three. 0: all is sent; otherwise an errno, EAGAIN where it takes no more now.
  int send_to(int socket);

 private:
  std::deque<std::string> waiting_;  // each with its length in front
  std::size_t done_ = 0;             // of the first
};

// The frame with its length in front.
std::string framed(std::string_view frame);

// Frames of any length between a process and its child. Nothing blocks but where it says so: what
// the other end does not take yet is kept, and so is what came before that end was gone.
class FramePipe {
 public:
  using Clock = std::chrono::steady_clock;

  FramePipe() = default;
  // Takes the socket.
  explicit FramePipe(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool is_open() const { return static_cast<bool>(socket_); }

  // Keeps it for the next flush().
  void add(std::string_view frame) { outgoing_.add(frame); }
  // Sends what it can at once. False: the other end is gone, and nothing more is kept.
  bool flush();
  bool push(std::string_view frame) {
    add(frame);
    return flush();
  }
  // A frame whose first byte says what it is.
  template <class Word>
  bool push(Word word, std::string_view bytes) {
    return push(std::string(1, static_cast<char>(word)).append(bytes));
  }
  bool has_backlog() const { return !outgoing_.empty(); }
  // Waits until the other end has room for everything, or is gone.
  void push_all();

  // Reads what is there. False: the other end is gone; frames that came before may still be taken.
  bool receive();
  std::optional<std::string> next();
  // Waits for the next frame, and sends what is left meanwhile. None: the other end is gone, or it
  // is too late.
  std::optional<std::string> wait(Clock::time_point until = Clock::time_point::max());

 private:
  UniqueFd socket_;
  OutgoingFrames outgoing_;
  IncomingFrames incoming_{std::numeric_limits<std::size_t>::max()};
};

}  // namespace paddle_launch
