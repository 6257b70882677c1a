// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/frames.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

#include "launcher/os/clock.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kChunk = 65536;
constexpr std::size_t kPiecesAtOnce = 16;

std::size_t length_at(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

}  // namespace

void IncomingFrames::add(std::string_view bytes) {
  // What was taken goes when it is worth a move, so that a burst of small frames costs one.
  if (taken_ == buffer_.size() || taken_ > buffer_.size() / 2) {
    buffer_.erase(0, std::exchange(taken_, 0));
  }
  buffer_.append(bytes);
}

std::optional<std::string_view> IncomingFrames::next() {
  const std::string_view rest = std::string_view(buffer_).substr(taken_);
  if (oversize_ || rest.size() < kLengthBytes) return std::nullopt;
  const std::size_t length = length_at(rest);
  if (length > longest_) {
    oversize_ = true;
    return std::nullopt;
  }
  if (rest.size() < kLengthBytes + length) return std::nullopt;
  taken_ += kLengthBytes + length;
  return rest.substr(kLengthBytes, length);
}

void OutgoingFrames::add(std::string_view frame) { waiting_.push_back(framed(frame)); }

std::vector<std::string_view> OutgoingFrames::front(std::size_t most) const {
  std::vector<std::string_view> pieces;
  for (const std::string& frame : waiting_) {
    if (pieces.size() == most) break;
    pieces.emplace_back(frame);
  }
  if (!pieces.empty()) pieces.front().remove_prefix(done_);
  return pieces;
}

void OutgoingFrames::written(std::size_t bytes) {
  done_ += bytes;
  while (!waiting_.empty() && done_ >= waiting_.front().size()) {
    done_ -= waiting_.front().size();
    waiting_.pop_front();
  }
}

int OutgoingFrames::send_to(int socket) {
  while (!empty()) {
    std::array<iovec, kPiecesAtOnce> parts{};
    msghdr header{};
    header.msg_iov = parts.data();
    for (const std::string_view piece : front(parts.size())) {
      // The kernel only reads it; its interface is older than const.
      parts.at(header.msg_iovlen++) = {const_cast<char*>(piece.data()), piece.size()};
    }
    const ssize_t sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno;
    written(static_cast<std::size_t>(sent));
  }
  return 0;
}

std::string framed(std::string_view frame) {
  std::string bytes;
  bytes.reserve(kLengthBytes + frame.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes += static_cast<char>(frame.size() >> (8 * i) & 0xFF);
  }
  bytes += frame;
  return bytes;
}

bool FramePipe::flush() {
  const int error = is_open() ? outgoing_.send_to(fd()) : EPIPE;
  if (error == 0 || error == EAGAIN) return true;
  outgoing_ = OutgoingFrames();
  return false;
}

void FramePipe::push_all() {
  while (has_backlog()) {
    pollfd ready{socket_.get(), POLLOUT, 0};
    poll(&ready, 1, -1);
    flush();
  }
}

bool FramePipe::receive() {
  std::array<char, kChunk> chunk;  // NOLINT: filled by recv
  while (socket_) {
    const ssize_t size = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    if (size <= 0) return false;
    incoming_.add({chunk.data(), static_cast<std::size_t>(size)});
  }
  return false;
}

std::optional<std::string> FramePipe::next() {
  const auto frame = incoming_.next();
  if (!frame) return std::nullopt;
  return std::string(*frame);
}

std::optional<std::string> FramePipe::wait(Clock::time_point until) {
  const bool for_ever = until == Clock::time_point::max();
  for (;;) {
    const bool is_there = receive();
    if (auto frame = next()) return frame;
    if (!is_there || Clock::now() >= until) return std::nullopt;
    const auto wanted = static_cast<short>(POLLIN | (has_backlog() ? POLLOUT : 0));
    pollfd waiting{socket_.get(), wanted, 0};
    poll(&waiting, 1, for_ever ? -1 : milliseconds_until(until));
    flush();
  }
}

}  // namespace paddle_launch
