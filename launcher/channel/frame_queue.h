// SPDX-License-Identifier: Apache-2.0
// Frames on a byte stream: a length of four bytes, then that many. Incoming bytes are cut into
// frames, outgoing frames wait for their turn; neither side ever holds more than its limit.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

 private:
  std::deque<std::string> waiting_;  // each with its length in front
  std::size_t done_ = 0;             // of the first
};

// The frame with its length in front.
std::string framed(std::string_view frame);

}  // namespace paddle_launch
