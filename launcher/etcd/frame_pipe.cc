// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/frame_pipe.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace paddle_launch {
namespace {

constexpr std::size_t kChunk = 65536;
using Length = std::uint32_t;

}  // namespace

void FramePipe::push(std::string_view frame) {
  const auto length = static_cast<Length>(frame.size());
  std::array<char, sizeof length> head{};
  std::memcpy(head.data(), &length, sizeof length);
  outgoing_.append(head.data(), head.size()).append(frame);
  flush();
}

void FramePipe::flush() {
  while (socket_ && has_backlog()) {
    const ssize_t sent = send(socket_.get(), outgoing_.data() + sent_, outgoing_.size() - sent_,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    // An end that is gone shows in receive().
    if (sent < 0) break;
    sent_ += static_cast<std::size_t>(sent);
  }
  outgoing_.clear();
  sent_ = 0;
}

bool FramePipe::receive() {
  std::array<char, kChunk> chunk;  // NOLINT: filled by recv
  while (socket_) {
    const ssize_t size = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    if (size <= 0) return false;
    incoming_.append(chunk.data(), static_cast<std::size_t>(size));
  }
  return false;
}

std::optional<std::string> FramePipe::next() {
  Length length = 0;
  const std::size_t there = incoming_.size() - taken_;
  if (there >= sizeof length) std::memcpy(&length, incoming_.data() + taken_, sizeof length);
  if (there < sizeof length || there - sizeof length < length) {
    incoming_.erase(0, std::exchange(taken_, 0));
    return std::nullopt;
  }
  std::string frame = incoming_.substr(taken_ + sizeof length, length);
  taken_ += sizeof length + length;
  return frame;
}

}  // namespace paddle_launch
